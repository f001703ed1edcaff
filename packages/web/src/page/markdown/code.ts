import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { classNames, elementsIn, parentElement, textContent } from "../dom.ts";

const gutter =
  /^(?:gutter|gl|line-?numbers?(?:-rows)?|lineno(?:s|div)?|linenos?|linenumber|ln-?num|hljs-ln-numbers|rouge-gutter|blob-num.*|code-line-number|react-syntax-highlighter-line-number|crayon-nums|token-line-number|linenodiv)$/i;
const copier = /(?:^|[-_])(?:copy|clipboard)(?:$|[-_])|copybtn|copy-?(?:code|button|btn)|toolbar/i;
const notLanguages = new Set(
  "hljs highlight code text-code source sourcecode prettyprint prettyprinted linenums line-numbers nohighlight none plain brush syntax block codeblock code-block shiki chroma language lang token pre wrap wp-block-code notranslate nocode copy".split(
    " ",
  ),
);

/** The text of a `<pre>` as it stands on the screen: without line numbers and buttons, line elements as lines. */
export function codeText(pre: ParentNode): string {
  let text = "";
  const line = (): void => {
    if (text !== "" && !text.endsWith("\n")) text += "\n";
  };
  const walk = (node: ChildNode): void => {
    if (node instanceof Text) {
      text += node.data;
      return;
    }
    if (!(node instanceof Element) || isGutter(node)) return;
    if (node.name === "br") {
      text += "\n";
      return;
    }
    const own = isLine(node);
    if (own) line();
    const before = text.length;
    for (const child of node.children) walk(child);
    if (own && text.length === before) text += "\n";
    if (own && !text.endsWith("\n") && hasSiblingLine(node)) text += "\n";
  };
  for (const child of pre.children) walk(child);
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/\u00a0/g, " ")
    .replace(/\u200b/g, "")
    .replace(/^\n/, "")
    .replace(/\s+$/, "");
}

/** Line numbers beside code, and the button that copies it. */
export function isGutter(element: Element): boolean {
  const classes = classNames(element);
  if (element.name === "button" || classes.some((each) => gutter.test(each))) return true;
  if (element.attribs["data-line-number"] !== undefined && textContent(element).trim().match(/^\d*$/)) return true;
  if (/user-select\s*:\s*none/.test(element.attribs.style ?? "") && /^\s*\d*\s*$/.test(textContent(element)))
    return true;
  return (
    (element.name === "div" || element.name === "span" || element.name === "a") &&
    classes.some((each) => copier.test(each))
  );
}

function isLine(element: Element): boolean {
  if (/^(?:div|p|li|tr|section)$/.test(element.name)) return true;
  if (element.name === "code") return hasSiblingLine(element);
  if (element.name !== "span") return false;
  const classes = classNames(element);
  return (
    classes.some((each) => /^(?:line|code-?line|view-line|token-line|ec-line)$/i.test(each)) && !nextToNewline(element)
  );
}

function hasSiblingLine(element: Element): boolean {
  return (element.parent?.children ?? []).some(
    (other) => other !== element && other instanceof Element && other.name === element.name,
  );
}

/** Highlighters that leave the line feed between their line elements need none from us. */
function nextToNewline(element: Element): boolean {
  const inside = textContent(element);
  if (inside.endsWith("\n")) return true;
  const { next, prev } = element;
  return (
    (next instanceof Text && /^[^\S\n]*\n/.test(next.data)) ||
    (next === null && prev instanceof Text && prev.data.includes("\n"))
  );
}

/** Language of a code block by the classes of the element, what is in it and what is around it. */
export function codeLanguage(pre: Element): string {
  const inner = [...elementsIn(pre)].filter(({ name }) => name === "code").slice(0, 1);
  const around: Element[] = [];
  for (let up = parentElement(pre); up && around.length < 4; up = parentElement(up)) around.push(up);
  for (const element of [...inner, pre, ...around]) {
    const language = ownLanguage(element, around.includes(element));
    if (language) return language;
  }
  return "";
}

function ownLanguage(element: Element, outside: boolean): string | undefined {
  const { attribs } = element;
  for (const value of [
    attribs["data-lang"],
    attribs["data-language"],
    attribs["data-code-language"],
    outside ? undefined : attribs.lang,
  ]) {
    const language = clean(value);
    if (language && !(value === attribs.lang && /^[a-z]{2}(?:-[A-Z]{2})?$/.test(value ?? ""))) return language;
  }
  const joined = attribs.class ?? "";
  const marked =
    /(?:^|\s)(?:language|lang|highlight-source|highlight|sh|prism|code|brush)[-:]\s*([\w+#.-]+)/i.exec(joined)?.[1] ??
    /(?:^|\s)brush:\s*([\w+#.-]+)/i.exec(joined)?.[1];
  const named = clean(marked?.replace(/^(?:source|text)-/, ""));
  if (named) return named;
  const classes = classNames(element);
  // "hljs python", "sourceCode haskell", "highlight ruby": the other word is the language.
  if (
    classes.some((each) => /^(?:hljs|sourceCode|highlight|prettyprint|codehilite)$/i.test(each)) &&
    !(outside && classes.length > 3)
  )
    for (const each of classes) {
      const language = clean(each);
      if (language && /^[a-z][\w+#]*$/i.test(each)) return language;
    }
  return undefined;
}

function clean(value: string | undefined): string | undefined {
  const language = value?.trim().toLowerCase();
  if (!language || !/^[a-z][\w+#.-]{0,19}$/.test(language) || notLanguages.has(language) || language === "default")
    return undefined;
  return language;
}
