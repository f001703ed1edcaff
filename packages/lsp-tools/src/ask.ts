import { existsSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { ServerReport } from "./answer.ts";
import { checkAnswer } from "./answer-shapes.ts";
import { errorCode, ResponseError } from "./connection.ts";
import type { Engine } from "./engine.ts";
import type { Feature } from "./features.ts";
import type { CallScope } from "./launch.ts";
import { describeLoss, ServerLost } from "./loss.ts";
import { cutText } from "./positions.ts";
import type { RequestOptions } from "./requests.ts";
import type { ServerLife } from "./server.ts";
import type { Serving } from "./serving.ts";
import type { FileText } from "./texts.ts";
import { pathToUri } from "./uris.ts";
import { TimedOut } from "./waiting.ts";

/** One call of a tool: for whom, about which file, until when. */
export interface Call {
  scope: CallScope;
  engine: Engine;
  /** By `performance.now()`. */
  deadline: number;
}

/** A server in the middle of a call: its state is that of the disk, the addressed file is open. */
export interface Session {
  life: ServerLife;
  languageId: string;
  uri: string;
  /** Sends a request within the bounds of the feature and of the call. */
  request<R>(method: string, params: unknown, options?: Pick<RequestOptions, "retry" | "timeoutMs">): Promise<R>;
}

/** What one server said. */
export interface Asked<R> {
  serving: Serving;
  report: ServerReport;
  /** Present when it answered, also with nothing. */
  result: R | undefined;
  /** Why it did not answer. */
  error: unknown;
  /** It had not loaded its project when it answered, or could not be told of all changes. */
  partial: string | undefined;
  state: { state: string; progress: string | undefined; waitedMs: number } | undefined;
}

export interface Question<R> {
  feature: Feature;
  file: { text: FileText } | undefined;
  /** Whether an answer holds anything. */
  isEmpty(result: R): boolean;
  ask(session: Session): Promise<R>;
  /** May be repeated on a new process. @default true */
  read?: boolean;
  /** Overrides the check of capabilities. */
  supported?(life: ServerLife, document: { uri: string; languageId: string }): boolean;
  /** A question of our own on the way to the answer: what is told once is kept for the answer. */
  quiet?: boolean;
  /** Waits for a loaded project even longer than the bound for readiness: never answers before. */
  insistOnLoaded?: boolean;
}

/** Asks all servers side by side, each under its own limits. */
export function askAll<R>(call: Call, serving: readonly Serving[], question: Question<R>): Promise<Asked<R>[]> {
  return Promise.all(serving.map((one) => askOne(call, one, question)));
}

/** Asks one server after the other until one has something to say. */
export async function askFirst<R>(call: Call, serving: readonly Serving[], question: Question<R>): Promise<Asked<R>[]> {
  const asked: Asked<R>[] = [];
  for (const one of serving) {
    const answer = await askOne(call, one, question);
    asked.push(answer);
    if (answer.report.outcome === "answered") break;
  }
  return asked;
}

export async function askOne<R>(call: Call, serving: Serving, question: Question<R>): Promise<Asked<R>> {
  const { scope, engine } = call;
  const { entry, languageId } = serving;
  const started = performance.now();
  let partial: string | undefined;
  let notLoaded: Asked<R>["state"];
  const messages: string[] = [];
  const report = (outcome: ServerReport["outcome"], message?: string): ServerReport => {
    const all = message === undefined ? messages : [...messages, message];
    return {
      id: entry.id,
      root: entry.root,
      ms: Math.round(performance.now() - started),
      outcome,
      ...(all.length > 0 && { message: cut(all.join("; "), 400) }),
    };
  };
  const done = (outcome: ServerReport["outcome"], rest: Partial<Asked<R>>, message?: string): Asked<R> => ({
    serving,
    report: report(outcome, message),
    result: undefined,
    error: undefined,
    partial,
    state: notLoaded,
    ...rest,
  });
  try {
    const result = await entry.use(scope, { read: question.read !== false }, async (life) => {
      partial = undefined;
      notLoaded = undefined;
      const note = question.quiet ? undefined : entry.note;
      if (note !== undefined) {
        entry.note = undefined;
        messages.push(note);
      }
      const uri = question.file ? pathToUri(question.file.text.path) : pathToUri(entry.root);
      const document = { uri, languageId };
      const supported = () =>
        question.supported?.(life, document) ??
        life.supports(question.feature.method, question.feature.provider, question.file && document);
      if (!supported()) {
        await life.settled();
        if (!supported() && life.definition.registersOnOpen && question.file) {
          await engine.sync(life, entry, scope, question.feature, { text: question.file.text, languageId });
          await life.registeredAfterOpen();
        }
        if (!supported()) return unsupported;
      }
      const synced = await engine.sync(
        life,
        entry,
        scope,
        question.feature,
        question.file && { text: question.file.text, languageId },
      );
      if (serving.definition.partner && question.file) {
        partial = await engine.prepareBridge(scope, serving, question.file.text);
      }
      if (synced.overflow > 0) partial = `${synced.overflow} files changed at once, more than could be opened`;
      if (!question.feature.syntactic) {
        const left = call.deadline - performance.now();
        const bound = question.insistOnLoaded ? left : Math.min(life.timeouts.ready, left);
        const loaded = await waitUntilLoaded(call, life, bound);
        if (!loaded) {
          notLoaded = {
            state: "loading",
            progress: life.readiness.describe(),
            waitedMs: Math.round(performance.now() - started),
          };
          partial = `${entry.id} is ${life.readiness.describe()}`;
          if (question.insistOnLoaded) return notReady;
        }
      }
      const value = await question.ask(session(call, life, question.feature, languageId, uri));
      engine.answered(life);
      // documents may have been opened by the work itself and progress begun by it
      if (!question.feature.syntactic && question.feature.crossFile) partial ??= needs(life);
      messages.push(...life.takeMessages());
      return { value };
    });
    if (result === unsupported) return done("unsupported", {});
    if (result === notReady) return done("not_ready", {});
    const empty = question.isEmpty(result.value);
    if (notLoaded && empty) return done("not_ready", { result: result.value });
    return done(empty ? "empty" : "answered", { result: result.value });
  } catch (error) {
    if (scope.signal.aborted) throw error;
    return failure(error);
  }

  function failure(error: unknown): Asked<R> {
    if (error instanceof TimedOut) {
      const { life } = entry;
      if (life && !question.feature.syntactic && !life.readiness.loaded) {
        notLoaded = { state: "loading", progress: life.readiness.describe(), waitedMs: error.waitedMs };
        return done("not_ready", { error }, life.readiness.describe());
      }
      return done("timed_out", { error }, `no answer within ${error.waitedMs} ms`);
    }
    if (error instanceof ResponseError) {
      const unknownMethod =
        error.code === errorCode.methodNotFound ||
        (error.code === errorCode.invalidRequest && !announced(entry.life, question.feature));
      if (unknownMethod) return done("unsupported", { error });
      return done("failed", { error }, `${error.message} (${error.code})`);
    }
    if (error instanceof ServerLost) return done("failed", { error }, describeLoss(entry.id, error.loss));
    if (error instanceof ToolError && !hard.has(error.code)) {
      return done(error.code === "timeout" ? "timed_out" : "failed", { error }, error.message);
    }
    throw error;
  }
}

const unsupported = Symbol("unsupported");
const notReady = Symbol("not ready");
/** Errors of the call itself, not of one server. */
const hard: ReadonlySet<string> = new Set([
  "invalid_input",
  "not_found",
  "cancelled",
  "too_large",
  "internal",
  "conflict",
]);

function announced(life: ServerLife | undefined, feature: Feature): boolean {
  return life?.supports(feature.method, feature.provider) ?? false;
}

function session(call: Call, life: ServerLife, feature: Feature, languageId: string, uri: string): Session {
  return {
    life,
    languageId,
    uri,
    request: async <R>(method: string, params: unknown, options: Pick<RequestOptions, "retry" | "timeoutMs"> = {}) => {
      const bound = options.timeoutMs ?? call.engine.boundFor(life, feature);
      const left = call.deadline - performance.now();
      const result = await life.request<R>(method, params, {
        uri,
        signal: call.scope.signal,
        timeoutMs: Math.max(1, Math.min(bound, left)),
        ...(options.retry !== undefined && { retry: options.retry }),
      });
      checkAnswer(life.id, method, result);
      return result;
    },
  };
}

const progressEveryMs = 2_000;

async function waitUntilLoaded(call: Call, life: ServerLife, bound: number): Promise<boolean> {
  if (life.readiness.loaded) return true;
  const repeat = setInterval(() => {
    call.scope.progress({ message: `${life.id}: ${life.readiness.describe()}` });
  }, progressEveryMs);
  try {
    // a server that ends while it loads has not loaded
    const gone = life.lost.then((loss) => {
      throw new ServerLost(life.id, loss);
    });
    return await Promise.race([life.readiness.wait(bound, call.scope.signal), gone]);
  } finally {
    clearInterval(repeat);
  }
}

/** Why answers across files are partial although everything is loaded. */
function needs(life: ServerLife): string | undefined {
  const rule = life.definition.ready;
  if (!rule?.needs || rule.needs.some((name) => existsSync(join(life.root, name)))) return undefined;
  return `${life.id} has none of ${rule.needs.join(", ")}: ${rule.needsHint ?? "answers cover open files only"}`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}
