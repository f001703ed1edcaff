import type { CompletionItem, CompletionList } from "vscode-languageserver-protocol";

const completionKinds = [
  "text",
  "method",
  "function",
  "constructor",
  "field",
  "variable",
  "class",
  "interface",
  "module",
  "property",
  "unit",
  "value",
  "enum",
  "keyword",
  "snippet",
  "color",
  "file",
  "reference",
  "folder",
  "enum member",
  "constant",
  "struct",
  "event",
  "operator",
  "type parameter",
];

export function completionKind(kind: number | undefined): string {
  return completionKinds[(kind ?? 0) - 1] ?? "text";
}

export type CompletionResult = CompletionItem[] | CompletionList | null;

/** The items of either result form, with `itemDefaults` applied. */
export function itemsOf(result: CompletionResult | undefined): { items: CompletionItem[]; isIncomplete: boolean } {
  if (!result) return { items: [], isIncomplete: false };
  if (Array.isArray(result)) return { items: result, isIncomplete: false };
  const { itemDefaults, isIncomplete } = result;
  const items = (result.items ?? []).map((item) => {
    if (!itemDefaults) return item;
    const { commitCharacters, insertTextFormat, insertTextMode, data } = itemDefaults;
    return {
      ...(commitCharacters && { commitCharacters }),
      ...(insertTextFormat && { insertTextFormat }),
      ...(insertTextMode && { insertTextMode }),
      ...(data !== undefined && { data }),
      ...item,
    };
  });
  return { items, isIncomplete };
}

/** Those that start with what is typed already, by `sortText`; exact case goes first among equals. */
export function filterCompletions(items: readonly CompletionItem[], typed: string): CompletionItem[] {
  const wanted = typed.toLowerCase();
  const fits = (item: CompletionItem) => {
    const text = (item.filterText ?? item.label).toLowerCase();
    return text.startsWith(wanted) || text.replace(/^[^\p{ID_Continue}$]+/u, "").startsWith(wanted);
  };
  const kept = wanted === "" ? [...items] : items.filter(fits);
  const key = (item: CompletionItem) => item.sortText ?? item.label;
  return kept.sort((a, b) => compare(key(a), key(b)) || compare(a.label, b.label));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text an item inserts; snippets, should a server send one all the same, lose their marks. */
export function insertTextOf(item: CompletionItem): string {
  const text = item.textEdit?.newText ?? item.textEditText ?? item.insertText ?? item.label;
  if (item.insertTextFormat !== 2) return text;
  return text
    .replace(/\$\{\d+:([^}]*)\}/g, "$1")
    .replace(/\$\{?\d+\}?/g, "")
    .replace(/\\([$}\\])/g, "$1");
}
