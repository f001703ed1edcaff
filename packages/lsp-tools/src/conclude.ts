import { ToolError } from "@toolhaft/core";
import type { Answer } from "./answer.ts";
import type { Asked } from "./ask.ts";
import { ResponseError } from "./connection.ts";
import type { Feature } from "./features.ts";
import { ServerLost } from "./loss.ts";
import { installLine, notUsable } from "./not-usable.ts";
import type { Missing } from "./serving.ts";

/** What a call as a whole amounts to. */
export interface Situation {
  feature: Pick<Feature, "noun">;
  asked: readonly Asked<unknown>[];
  missing: readonly Missing[];
  /** Nothing is left to show after merging. */
  empty: boolean;
  /** What else makes the answer partial. */
  partial?: string | undefined;
  /** For the `unsupported` error: which tool would do. */
  insteadHint?: string | undefined;
  /** "src/a.ts" */
  shown: string;
}

/**
 * Tells the four answers apart: there is nothing, nobody can tell, not yet, and it failed.
 *
 * @returns the part of a result that says how far it can be trusted
 * @throws ToolError when there is no answer at all
 */
export function conclude(situation: Situation): Omit<Answer, "target"> {
  const { feature, asked, empty } = situation;
  const servers = asked.map((one) => one.report);
  const able = asked.filter((one) => one.report.outcome !== "unsupported");
  if (able.length === 0) throw noServer(situation);

  const answered = able.filter((one) => one.report.outcome === "answered" || one.report.outcome === "empty");
  const waiting = able.filter((one) => one.report.outcome === "not_ready");
  if (empty && waiting.length > 0) throw notReadyError(waiting[0] ?? able[0]);
  if (answered.length === 0 && empty) throw allFailed(able, feature);

  const reasons = able.flatMap((one) => reasonOf(one));
  if (situation.partial !== undefined) reasons.push(situation.partial);
  return { servers, complete: reasons.length === 0, ...(reasons.length > 0 && { incomplete: reasons.join("; ") }) };
}

function reasonOf(one: Asked<unknown>): string[] {
  const { id, outcome, message } = one.report;
  if (one.partial !== undefined) return [one.partial];
  if (outcome === "timed_out") return [`${id} has not answered: ${message ?? "timed out"}`];
  if (outcome === "failed") return [`${id} failed: ${message ?? "no reason given"}`];
  if (outcome === "not_ready") return [`${id} is not ready: ${message ?? "loading"}`];
  return [];
}

function noServer(situation: Situation): ToolError {
  const { asked, missing, feature, shown, insteadHint } = situation;
  const ids = asked.map((one) => one.report.id);
  if (ids.length === 0) {
    const [first] = missing;
    if (first) return notUsable(first.definition, first.plan, first.plan.refused);
    return new ToolError("unsupported", `no language server is known for ${shown}`, { hint: defineHint(shown) });
  }
  const language = missing.find((one) => one.definition.role !== "linter");
  if (language) return notUsable(language.definition, language.plan, language.plan.refused);
  const hint =
    insteadHint ??
    (missing[0] ? `${missing[0].definition.id} may have them: ${installLine(missing[0].definition)}` : undefined);
  return new ToolError("unsupported", `${ids.join(", ")} ${ids.length === 1 ? "has" : "have"} no ${feature.noun}`, {
    ...(hint !== undefined && { hint }),
    details: { servers: ids },
  });
}

/** How a server for an unknown kind of file is made known. */
export function defineHint(shown: string): string {
  const extension = /\.[^./\\]+$/.exec(shown)?.[0] ?? ".ext";
  const example = {
    lsp: {
      servers: {
        mine: {
          command: "my-language-server",
          args: ["--stdio"],
          files: [{ languageId: "mine", extensions: [extension] }],
        },
      },
    },
  };
  return `define one in toolhaft.config.json: ${JSON.stringify(example)}`;
}

function notReadyError(one: Asked<unknown> | undefined): ToolError {
  const id = one?.report.id ?? "the server";
  const progress = one?.state?.progress ?? one?.report.message ?? "loading";
  const details = one?.state ?? { state: "loading", progress, waitedMs: one?.report.ms ?? 0 };
  return new ToolError("unavailable", `${id} is not ready: ${progress}`, {
    hint: "call again in a moment, or raise timeouts.ready of this server",
    retryable: true,
    details: { ...details },
  });
}

function allFailed(able: readonly Asked<unknown>[], feature: Pick<Feature, "noun">): ToolError {
  const [first] = able;
  const error = first?.error;
  const message = able.map((one) => `${one.report.id}: ${one.report.message ?? one.report.outcome}`).join("; ");
  if (error instanceof ToolError) {
    const hint = error.hint;
    return new ToolError(error.code, error.message, {
      retryable: error.retryable,
      cause: error,
      ...(hint !== undefined && { hint }),
      ...(error.details && { details: { ...error.details } }),
    });
  }
  if (error instanceof ServerLost) {
    return new ToolError("upstream", error.message, {
      hint: "the server ends under this request; lsp_restart_server starts it anew",
      retryable: true,
      details: { code: error.loss.code, signal: error.loss.signal, stderr: error.loss.stderr },
    });
  }
  if (error instanceof ResponseError) {
    return new ToolError("upstream", message, { details: { code: error.code } });
  }
  if (first?.report.outcome === "timed_out") {
    return new ToolError("timeout", `no ${feature.noun}: ${message}`, {
      hint: "call again, or raise timeouts.fast and timeouts.slow of this server",
    });
  }
  return new ToolError("upstream", message, { cause: error });
}
