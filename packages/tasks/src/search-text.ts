import type { Task } from "./model.ts";
import { headOf } from "./text-window.ts";

/** Code points of a prompt and of a result that are searched. */
export const searchedChars = 4_000;
/** Between fields; no text holds it, so no term spans two of them. */
const between = "\uffff";

/** Upper and lower case, and the forms of one character, are the same. */
export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(between, "\ufffd");
}

/** The terms of a query, folded; none for `*` alone, which is all. */
export function termsOf(query: string): string[] {
  const trimmed = query.trim();
  if (trimmed === "*") return [];
  const terms: string[] = [];
  for (const match of trimmed.matchAll(/"([^"]*)"?|[^\s"]+/gu)) {
    const term = fold(match[1] ?? match[0]);
    if (term.trim() !== "" && !terms.includes(term)) terms.push(term);
  }
  return terms;
}

/** What is searched of a task, folded. */
export function searchText(task: Pick<Task, "id" | "title" | "body" | "agent" | "end" | "result">): string {
  const fields = [
    task.id,
    task.title,
    headOf(task.body, searchedChars),
    task.agent ?? "",
    task.end?.message ?? "",
    headOf(task.result?.head ?? "", searchedChars),
  ];
  return fields.map(fold).join(between);
}

/**
 * The rule of `task_search`: every term of the query occurs in the id, title, prompt, agent, error or head of the
 * result. Terms are separated by white space, `"…"` is one term, `*` alone matches all.
 */
export function matchesTask(task: Task, query: string): boolean {
  const text = searchText(task);
  return termsOf(query).every((term) => text.includes(term));
}

/** Code points shown around a hit. */
const previewChars = 200;

/** Where a query first meets the result, else the error or the prompt; the beginning of the result when it meets none. */
export function aroundFirstHit(task: Task, query: string): string {
  const texts = [task.result?.head ?? "", task.end?.message ?? "", headOf(task.body, searchedChars)];
  for (const text of texts) {
    const points = [...text];
    const at = firstHit(points, termsOf(query));
    if (at === undefined) continue;
    const start = Math.max(0, Math.min(at - previewChars / 2, points.length - previewChars));
    return points.slice(start, start + previewChars).join("");
  }
  return headOf(task.result?.head ?? "", previewChars);
}

/** The code point at which one of the terms begins. Folding may change lengths, so each point is folded by itself. */
function firstHit(points: readonly string[], terms: readonly string[]): number | undefined {
  const folded = points.map(fold);
  const text = folded.join("");
  const hits = terms.map((term) => text.indexOf(term)).filter((at) => at >= 0);
  if (hits.length === 0) return undefined;
  const wanted = Math.min(...hits);
  let length = 0;
  return folded.findIndex((part) => {
    length += part.length;
    return length > wanted;
  });
}
