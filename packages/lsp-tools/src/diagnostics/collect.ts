import type { Diagnostic } from "vscode-languageserver-protocol";
import type { FileDiagnostic, Severity } from "../answer.ts";
import { severities } from "../answer.ts";
import type { Call, Session } from "../ask.ts";
import { errorCode, ResponseError } from "../connection.ts";
import { cutText } from "../positions.ts";
import { realPathOf, uriToPath } from "../uris.ts";
import { pull, pullIdentifiers } from "./pull.ts";
import { awaitPublish, confirmed } from "./push.ts";
import { askTsserver, hasTsserver } from "./tsserver.ts";

/**
 * The diagnostics of the session's document for the text it has now. The way is chosen by what the server can do, never
 * by its name.
 *
 * @throws TimedOut when a pushing server does not confirm in time
 */
export async function collectRaw(call: Call, session: Session): Promise<Diagnostic[]> {
  const { life } = session;
  if (hasTsserver(session)) return askTsserver(session);
  let identifiers = pullIdentifiers(session);
  if (identifiers.length === 0) {
    await life.settled();
    identifiers = pullIdentifiers(session);
  }
  const path = realPathOf(uriToPath(session.uri) ?? "");
  const document = life.documents.get(path);
  if (identifiers.length > 0) {
    try {
      const pulled = await pull(session, identifiers);
      const pushed = document ? (confirmed(session, document) ?? []) : [];
      return dedupe([...pulled, ...pushed]);
    } catch (error) {
      if (!(error instanceof ResponseError) || error.code !== errorCode.methodNotFound) throw error;
    }
  }
  if (!document) return [];
  const left = call.deadline - performance.now();
  return awaitPublish(session, document, Math.max(1, Math.min(life.timeouts.push, left)), call.scope.signal);
}

function dedupe(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Map<string, Diagnostic>();
  for (const one of diagnostics) {
    const key = JSON.stringify([one.range, one.message, one.code]);
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()];
}

const maxMessage = 400;

/** A diagnostic of the protocol in our form. A missing severity counts as error. */
export function describeDiagnostic(one: Diagnostic, server: string, pathOf: (uri: string) => string): FileDiagnostic {
  const tags = (one.tags ?? []).flatMap((tag) =>
    tag === 1 ? (["unnecessary"] as const) : tag === 2 ? (["deprecated"] as const) : [],
  );
  const related = (one.relatedInformation ?? []).map((info) => ({
    path: pathOf(info.location.uri),
    range: info.location.range,
    message: info.message,
  }));
  const message = typeof one.message === "string" ? one.message : (one.message as { value: string }).value;
  return {
    range: one.range,
    severity: severityOf(one),
    ...(one.code !== undefined && one.code !== null && { code: String(one.code) }),
    ...(one.source !== undefined && { source: one.source }),
    message: message.length > maxMessage ? `${cutText(message, maxMessage - 1)}…` : message,
    server,
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(related.length > 0 && { related }),
  };
}

function severityOf(one: Diagnostic): Severity {
  return severities[(one.severity ?? 1) - 1] ?? "error";
}
