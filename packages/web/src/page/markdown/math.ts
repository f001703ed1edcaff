import { type Document, Element, Text } from "domhandler";
import { classNames, detach, elementsIn, firstElement, parentElement, squeeze, textContent } from "../dom.ts";

/** Attribute of the `<code>` that stands for a formula: "inline" or "display". */
export const texAttribute = "data-tex";

/** Replaces every rendering of a formula (KaTeX, MathJax, MathML, image with source) by its TeX, once. */
export function foldMath(document: Document): void {
  const found = [...elementsIn(document)].filter(isMath);
  for (const element of found) {
    if (!isAttached(element, document)) continue;
    const tex = texOf(element);
    if (tex === undefined) continue;
    const whole = wholeFormula(element);
    if (element.name === "script") dropRenderings(element);
    const code = new Element("code", { [texAttribute]: isDisplay(element, whole) ? "display" : "inline" }, [
      new Text(tex),
    ]);
    const text = code.children[0];
    if (text) text.parent = code;
    replace(whole, code);
  }
}

function isMath(element: Element): boolean {
  const { name, attribs } = element;
  if (name === "math" || name === "mjx-container") return true;
  if (name === "script") return /^math\/tex/i.test(attribs.type ?? "");
  const classes = classNames(element);
  if (name === "img")
    return classes.some((each) => /^(?:tex|latex|mwe-math-fallback-image.*|math)$/.test(each)) && Boolean(attribs.alt);
  return classes.includes("katex") || classes.includes("mwe-math-element");
}

function texOf(element: Element): string | undefined {
  if (element.name === "script") return tidy(textContent(element));
  if (element.name === "img") return tidy(element.attribs.alt ?? "");
  const annotation = firstElement(
    element,
    ({ name, attribs }) => name === "annotation" && /tex/i.test(attribs.encoding ?? ""),
  );
  if (annotation) return tidy(textContent(annotation));
  const math = element.name === "math" ? element : firstElement(element, ({ name }) => name === "math");
  const alternative = math?.attribs.alttext;
  if (alternative) return tidy(alternative);
  if (math) return tidy(mathMlToTex(math));
  const image = firstElement(element, ({ name, attribs }) => name === "img" && Boolean(attribs.alt));
  return image ? tidy(image.attribs.alt ?? "") : undefined;
}

function tidy(tex: string): string | undefined {
  const text = squeeze(tex)
    .replace(/^\{\\(?:displaystyle|textstyle)\s+(.*)\}$/s, "$1")
    .trim();
  return text === "" ? undefined : text;
}

/** The outermost element that shows nothing but this formula. */
function wholeFormula(element: Element): Element {
  let whole = element;
  for (let up = parentElement(element); up; up = parentElement(up)) {
    const classes = classNames(up);
    if (
      !classes.some((each) =>
        /^(?:katex(?:-display|-mathml)?|mwe-math-element.*|mwe-math-mathml.*|MathJax.*|mjx-.*)$/.test(each),
      ) &&
      up.name !== "mjx-container"
    )
      break;
    whole = up;
  }
  return whole;
}

function isDisplay(element: Element, whole: Element): boolean {
  if (/mode\s*=\s*display/i.test(element.attribs.type ?? "")) return true;
  if (classNames(whole).some((each) => /display/i.test(each))) return true;
  const math = element.name === "math" ? element : firstElement(element, ({ name }) => name === "math");
  return element.attribs.display === "true" || element.attribs.display === "block" || math?.attribs.display === "block";
}

/** MathJax 2 leaves its drawing and a preview before the source script. */
function dropRenderings(script: Element): void {
  for (let before = script.prev; before; before = script.prev) {
    if (before instanceof Text && !before.data.trim()) {
      detach(before);
      continue;
    }
    if (!(before instanceof Element) || !classNames(before).some((each) => /^(?:MathJax|mjx)/.test(each))) break;
    detach(before);
  }
}

function replace(old: Element, fresh: Element): void {
  const parent = old.parent;
  if (!parent) return;
  const index = parent.children.indexOf(old);
  if (index < 0) return;
  parent.children[index] = fresh;
  fresh.parent = parent;
  fresh.prev = old.prev;
  fresh.next = old.next;
  if (old.prev) old.prev.next = fresh;
  if (old.next) old.next.prev = fresh;
  old.parent = null;
}

function isAttached(element: Element, document: Document): boolean {
  for (let node = element.parent; node; node = node.parent) if (node === document) return true;
  return false;
}

/** TeX for the common parts of presentation MathML, for formulas that carry no source. */
function mathMlToTex(node: Element): string {
  const parts = node.children
    .filter((child): child is Element => child instanceof Element)
    .filter(({ name }) => name !== "annotation" && name !== "annotation-xml")
    .map(mathMlToTex);
  const [first = "", second = "", third = ""] = parts;
  switch (node.name) {
    case "mi":
    case "mn":
    case "mo":
    case "ms":
      return squeeze(textContent(node));
    case "mtext":
      return `\\text{${squeeze(textContent(node))}}`;
    case "mfrac":
      return `\\frac{${first}}{${second}}`;
    case "msqrt":
      return `\\sqrt{${parts.join(" ")}}`;
    case "mroot":
      return `\\sqrt[${second}]{${first}}`;
    case "msup":
      return `${first}^{${second}}`;
    case "msub":
      return `${first}_{${second}}`;
    case "msubsup":
    case "munderover":
      return `${first}_{${second}}^{${third}}`;
    case "munder":
      return `${first}_{${second}}`;
    case "mover":
      return `${first}^{${second}}`;
    default:
      return parts.join(" ");
  }
}
