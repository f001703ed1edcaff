import type { Diagnostic, DocumentDiagnosticReport } from "vscode-languageserver-protocol";
import type { Session } from "../ask.ts";
import { errorCode, ResponseError } from "../connection.ts";

const method = "textDocument/diagnostic";

/** The identifiers under which the server offers pull diagnostics for the document; none: it does not. */
export function pullIdentifiers(session: Session): (string | undefined)[] {
  const { capabilities, registrations } = session.life;
  const document = { uri: session.uri, languageId: session.languageId };
  const fixed = capabilities.diagnosticProvider;
  const offers = [
    ...(fixed && session.life.supports(method, "diagnosticProvider", document)
      ? [fixed as { identifier?: unknown }]
      : []),
    ...registrations.options(method, document),
  ];
  return [...new Set(offers.map((one) => (typeof one.identifier === "string" ? one.identifier : undefined)))];
}

/** Asks for the diagnostics of one document, one request for each identifier. */
export async function pull(session: Session, identifiers: readonly (string | undefined)[]): Promise<Diagnostic[]> {
  const reports = await Promise.all(identifiers.map((identifier) => pullOne(session, identifier)));
  return reports.flat();
}

async function pullOne(session: Session, identifier: string | undefined): Promise<Diagnostic[]> {
  const { pulled } = session.life;
  const key = `${session.uri}\0${identifier ?? ""}`;
  const before = pulled.get(key);
  const params = {
    textDocument: { uri: session.uri },
    ...(identifier !== undefined && { identifier }),
    ...(before?.resultId !== undefined && { previousResultId: before.resultId }),
  };
  const report = await askAgain(session, params);
  if (report?.kind === "unchanged") {
    if (before) pulled.set(key, { resultId: report.resultId, items: before.items });
    return (before?.items ?? []) as Diagnostic[];
  }
  const items = report?.items ?? [];
  pulled.set(key, { resultId: report?.resultId, items });
  for (const [uri, related] of Object.entries(report?.relatedDocuments ?? {})) {
    if (related.kind === "full") {
      pulled.set(`${uri}\0${identifier ?? ""}`, { resultId: related.resultId, items: related.items });
    }
  }
  return items;
}

/** A server that cancels says by `retriggerRequest` whether asking again helps. */
async function askAgain(session: Session, params: object): Promise<DocumentDiagnosticReport | null> {
  try {
    return await session.request<DocumentDiagnosticReport | null>(method, params, { retry: true });
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code !== errorCode.serverCancelled) throw error;
    const { retriggerRequest } = (error.data ?? {}) as { retriggerRequest?: unknown };
    if (retriggerRequest === false) return null;
    throw error;
  }
}
