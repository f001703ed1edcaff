import { ToolError } from "@toolhaft/core";
import {
  anything,
  both,
  type Check,
  flag,
  isRecord,
  list,
  number,
  orNull,
  record,
  strictly,
  text,
  textOr,
  values,
} from "./shape-checks.ts";

/** Servers that know no column say -1: that is the first one. */
const position: Check = (value) => {
  if (!isRecord(value)) return "is no position";
  const { line, character } = value;
  if (!Number.isInteger(line) || !Number.isInteger(character)) return "is no position";
  value.line = Math.max(0, Number(line));
  value.character = Math.max(0, Number(character));
  return undefined;
};
const range: Check = (value) => {
  if (!isRecord(value)) return "is no range";
  return (position(value.start) ?? position(value.end)) === undefined ? undefined : "is no range";
};

const location = record({ uri: text, range });
const link = record({ targetUri: text, targetSelectionRange: range });
const place: Check = (value) => (isRecord(value) && "targetUri" in value ? link(value) : location(value));
const places = orNull((value) => (Array.isArray(value) ? list(place)(value) : place(value)));

const marked: Check = textOr(record({ value: text }, { language: text }));
const markup: Check = (value) => (Array.isArray(value) ? list(marked)(value) : marked(value));

const documentSymbol: Check = (value) => {
  if (isRecord(value) && "location" in value) return symbolInformation(value);
  return both(
    record({ name: text, range, selectionRange: range }, symbolExtras),
    strictly({ children: list(documentSymbol) }),
  )(value);
};
const symbolExtras = { kind: number, detail: text, tags: list(number), deprecated: flag, containerName: text };
const symbolInformation = record({ name: text, location }, symbolExtras);
const foundSymbol = record({ name: text, location: record({ uri: text }, { range }) }, symbolExtras);

const parameter = record(
  { label: (value) => (Array.isArray(value) ? list(number)(value) : text(value)) },
  { documentation: markup },
);
const signature = record(
  { label: text },
  { documentation: markup, parameters: list(parameter), activeParameter: number },
);

const completionItem = record(
  { label: text },
  {
    kind: number,
    detail: text,
    documentation: markup,
    insertText: text,
    insertTextFormat: number,
    sortText: text,
    filterText: text,
    textEdit: record({ newText: text }),
    textEditText: text,
    additionalTextEdits: list(anything),
    labelDetails: record({}, { detail: text, description: text }),
  },
);
const completions: Check = (value) =>
  Array.isArray(value)
    ? list(completionItem)(value)
    : record({ items: orNull(list(completionItem)) }, { isIncomplete: flag, itemDefaults: record({}) })(value);

const textEdit = both(record({ range }), (value) => {
  if (isRecord(value) && !("newText" in value) && isRecord(value.snippet)) return undefined;
  return record({ newText: text }, { annotationId: text })(value);
});
const fileOptions = {
  options: strictly({ overwrite: flag, ignoreIfExists: flag, recursive: flag, ignoreIfNotExists: flag }),
};
const operation: Check = (value) => {
  if (!isRecord(value)) return "is no object";
  if (value.kind === undefined) {
    return record({ textDocument: both(record({ uri: text }), strictly({ version: number })), edits: list(textEdit) })(
      value,
    );
  }
  if (value.kind === "rename") return both(record({ oldUri: text, newUri: text }), strictly(fileOptions))(value);
  // one of an unknown kind is refused by the plan, by name
  if (value.kind !== "create" && value.kind !== "delete") return text(value.kind);
  return both(record({ uri: text }), strictly(fileOptions))(value);
};
const workspaceEdit = strictly({
  changes: values(list(textEdit)),
  documentChanges: list(operation),
  changeAnnotations: values(record({ label: text }, { description: text, needsConfirmation: flag })),
});

const command = record({ command: text }, { title: text, arguments: list(anything) });
const diagnostic = record(
  { range, message: textOr(record({ value: text })) },
  {
    severity: number,
    source: text,
    tags: list(number),
    relatedInformation: list(record({ location, message: text })),
  },
);
const action: Check = (value) => {
  if (isRecord(value) && typeof value.command === "string") return record({ title: text })(value);
  return both(
    record(
      { title: text },
      { kind: text, isPreferred: flag, disabled: record({ reason: text }), diagnostics: list(diagnostic) },
    ),
    strictly({ edit: workspaceEdit, command }),
  )(value);
};

const item = record({ name: text, uri: text, range, selectionRange: range }, { kind: number, detail: text });
const lens = record({ range }, { command: record({ title: text }, { command: text }) });
const documentLink = record({ range }, { target: text, tooltip: text });
const color = record({ red: number, green: number, blue: number, alpha: number });
const report: Check = (value) => {
  if (isRecord(value) && value.kind === "unchanged") return undefined;
  return record({ items: list(diagnostic) }, { resultId: text, relatedDocuments: values(relatedReport) })(value);
};
const relatedReport: Check = (value) =>
  isRecord(value) && value.kind === "unchanged" ? undefined : record({ items: list(diagnostic) })(value);
const selection: Check = (value) => {
  for (let inner: unknown = value; inner !== undefined && inner !== null; ) {
    const fault = record({ range })(inner);
    if (fault !== undefined) return fault;
    inner = isRecord(inner) ? inner.parent : undefined;
  }
  return isRecord(value) ? undefined : "is no object";
};
const prepared: Check = (value) => {
  if (isRecord(value) && "defaultBehavior" in value) return undefined;
  if (isRecord(value) && "range" in value) return record({ range }, { placeholder: text })(value);
  return range(value);
};

/** What each request is answered with, as far as it is read here. Requests that are not listed are taken as they come. */
const shapes: Readonly<Record<string, Check>> = {
  "textDocument/definition": places,
  "textDocument/typeDefinition": places,
  "textDocument/implementation": places,
  "textDocument/declaration": places,
  "textDocument/references": places,
  "textDocument/documentHighlight": orNull(list(record({ range }, { kind: number }))),
  "textDocument/documentSymbol": orNull(list(documentSymbol)),
  "workspace/symbol": orNull(list(foundSymbol)),
  "workspaceSymbol/resolve": orNull(foundSymbol),
  "textDocument/hover": orNull(record({ contents: orNull(markup) }, { range })),
  "textDocument/signatureHelp": orNull(
    record({ signatures: list(signature) }, { activeSignature: number, activeParameter: number }),
  ),
  "textDocument/completion": orNull(completions),
  "completionItem/resolve": orNull(completionItem),
  "textDocument/prepareRename": orNull(prepared),
  "textDocument/rename": orNull(workspaceEdit),
  "textDocument/codeAction": orNull(list(action)),
  "codeAction/resolve": action,
  "textDocument/formatting": orNull(list(textEdit)),
  "textDocument/rangeFormatting": orNull(list(textEdit)),
  "json/sort": orNull(list(textEdit)),
  "textDocument/prepareCallHierarchy": orNull(list(item)),
  "textDocument/prepareTypeHierarchy": orNull(list(item)),
  "callHierarchy/incomingCalls": orNull(list(record({ from: item, fromRanges: list(range) }))),
  "callHierarchy/outgoingCalls": orNull(list(record({ to: item, fromRanges: list(range) }))),
  "typeHierarchy/supertypes": orNull(list(item)),
  "typeHierarchy/subtypes": orNull(list(item)),
  "textDocument/foldingRange": orNull(list(record({ startLine: number, endLine: number }, { kind: text }))),
  "textDocument/selectionRange": orNull(list(selection)),
  "textDocument/semanticTokens/full": orNull(record({ data: list(number) })),
  "textDocument/semanticTokens/range": orNull(record({ data: list(number) })),
  "textDocument/codeLens": orNull(list(lens)),
  "codeLens/resolve": orNull(lens),
  "textDocument/inlayHint": orNull(
    list(
      record(
        { position, label: (value) => (Array.isArray(value) ? list(record({ value: text }))(value) : text(value)) },
        { kind: number },
      ),
    ),
  ),
  "textDocument/documentLink": orNull(list(documentLink)),
  "documentLink/resolve": orNull(documentLink),
  "textDocument/documentColor": orNull(list(record({ range, color }))),
  "textDocument/diagnostic": orNull(report),
};

/**
 * Refuses an answer that is not what the protocol says: read as it is, it would come out as an error of ours, or as
 * nothing found.
 *
 * @throws ToolError `upstream`, naming server, request and place
 */
export function checkAnswer(server: string, method: string, result: unknown): void {
  const fault = shapes[method]?.(result);
  if (fault === undefined) return;
  const where = fault.startsWith(".") || fault.startsWith("[") ? fault : `: it ${fault}`;
  throw new ToolError("upstream", `${server} answered ${method} with what the protocol does not know${where}`, {
    hint: "an update of this language server may help",
    details: { server, method },
  });
}

/** What is wrong with `textDocument/publishDiagnostics`. */
export const publishFault: Check = record({ uri: text, diagnostics: list(diagnostic) }, { version: number });

/** What is wrong with the edit of `workspace/applyEdit`. */
export const editFault: Check = workspaceEdit;
