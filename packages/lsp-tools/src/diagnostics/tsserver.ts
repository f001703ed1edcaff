import type { Diagnostic } from "vscode-languageserver-protocol";
import type { Session } from "../ask.ts";
import { pathToUri, uriToPath } from "../uris.ts";

const command = "typescript.tsserverRequest";

/** Whether the server passes requests on to tsserver. */
export function hasTsserver(session: Session): boolean {
  return session.life.capabilities.executeCommandProvider?.commands?.includes(command) ?? false;
}

interface TsPosition {
  line: number;
  offset: number;
}

interface TsDiagnostic {
  start: TsPosition;
  end: TsPosition;
  text: string;
  code?: number;
  category: string;
  source?: string;
  reportsUnnecessary?: object | boolean;
  reportsDeprecated?: object | boolean;
  relatedInformation?: { message: string; span?: { file: string; start: TsPosition; end: TsPosition } }[];
}

const severities: Record<string, 1 | 2 | 3 | 4> = { error: 1, warning: 2, message: 3, suggestion: 4 };

/**
 * What tsserver thinks of a file now: exact for the text it was sent, no settling.
 *
 * @see https://github.com/microsoft/TypeScript/wiki/Standalone-Server-(tsserver)
 */
export async function askTsserver(session: Session): Promise<Diagnostic[]> {
  const file = uriToPath(session.uri);
  const kinds = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"];
  const found: Diagnostic[] = [];
  for (const kind of kinds) {
    const response = await session.request<{ body?: TsDiagnostic[] } | null>("workspace/executeCommand", {
      command,
      arguments: [kind, { file }],
    });
    for (const one of response?.body ?? []) found.push(convert(one));
  }
  return found;
}

function convert(one: TsDiagnostic): Diagnostic {
  const tags = [...(one.reportsUnnecessary ? [1 as const] : []), ...(one.reportsDeprecated ? [2 as const] : [])];
  const related = (one.relatedInformation ?? []).flatMap(({ message, span }) =>
    span ? [{ message, location: { uri: pathToUri(span.file), range: rangeOf(span) } }] : [],
  );
  return {
    range: rangeOf(one),
    message: one.text,
    severity: severities[one.category] ?? 1,
    source: one.source ?? "typescript",
    ...(one.code !== undefined && { code: one.code }),
    ...(tags.length > 0 && { tags }),
    ...(related.length > 0 && { relatedInformation: related }),
  };
}

function rangeOf({ start, end }: { start: TsPosition; end: TsPosition }): Diagnostic["range"] {
  return {
    start: { line: start.line - 1, character: start.offset - 1 },
    end: { line: end.line - 1, character: end.offset - 1 },
  };
}
