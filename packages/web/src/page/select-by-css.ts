import { selectAll } from "css-select";
import { type AnyNode, type ChildNode, type Document, Element } from "domhandler";
import { elementsIn } from "./dom.ts";
import { PageError } from "./page-error.ts";

const longest = 1_000;

/** Elements that a selector matches, in document order, none inside another. */
export function selectElements(document: Document, selector: string): Element[] {
  if (selector.trim() === "") throw new PageError("invalid_input", "the selector is empty");
  if (selector.length > longest)
    throw new PageError("invalid_input", `the selector is longer than ${longest} characters`);
  let found: AnyNode[];
  try {
    found = selectAll(selector, document);
  } catch (error) {
    throw new PageError(
      "invalid_input",
      `the selector cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const matched = new Set<AnyNode>(found);
  const outer = found.filter((node): node is Element => node instanceof Element && !insideAny(node, matched));
  if (outer.length === 0)
    throw new PageError("not_found", `nothing on the page matches the selector ${selector}`, landmarksHint(document));
  return outer;
}

function insideAny(node: ChildNode, matched: ReadonlySet<AnyNode>): boolean {
  for (let up = node.parent; up; up = up.parent) if (matched.has(up)) return true;
  return false;
}

/** What a caller could select instead: landmarks and the first ids of the page. */
function landmarksHint(document: Document): string {
  const landmarks = new Set<string>();
  const ids: string[] = [];
  for (const { name, attribs } of elementsIn(document)) {
    if (/^(?:main|article|nav|header|footer|aside|table)$/.test(name)) landmarks.add(name);
    if (attribs.role) landmarks.add(`[role="${attribs.role.slice(0, 30)}"]`);
    if (attribs.id && ids.length < 20 && /^[\w-]{1,60}$/.test(attribs.id)) ids.push(`#${attribs.id}`);
  }
  const list = [...[...landmarks].slice(0, 12), ...ids];
  return list.length === 0
    ? "the page has no ids or landmarks; leave the selector out"
    : `there are: ${list.join(", ")}`;
}
