import { type ChildNode, Element } from "domhandler";
import { classNames, elementsIn, squeeze, textContent } from "../dom.ts";
import { codeText, isGutter } from "./code.ts";

/** Most columns a table may have; a wider one is read row by row. */
const maxColumns = 60;

export interface Cell {
  element: Element;
  text: string;
}

/** Rows of this table itself, not of tables inside it. */
export function tableRows(table: Element): Element[] {
  return [...ownElements(table, "tr")];
}

function* ownElements(parent: Element, name: string): Generator<Element> {
  for (const child of parent.children) {
    if (!(child instanceof Element)) continue;
    if (child.name === name) yield child;
    else if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot")
      yield* ownElements(child, name);
  }
}

export function rowCells(row: Element): Element[] {
  return row.children.filter(
    (child): child is Element => child instanceof Element && (child.name === "td" || child.name === "th"),
  );
}

/** Code shown as a table: line numbers in one cell or column, code in the other. Undefined for other tables. */
export function tableCode(table: Element): { text: string; pre: Element | undefined } | undefined {
  const rows = tableRows(table);
  if (rows.length === 0) return undefined;
  const lines: string[] = [];
  let pre: Element | undefined;
  let gutters = 0;
  for (const row of rows) {
    const cells = rowCells(row);
    if (cells.length < 1 || cells.length > 3) return undefined;
    const last = cells[cells.length - 1];
    if (!last) return undefined;
    const numbers = cells.slice(0, -1);
    if (
      !numbers.every(
        (cell) =>
          /^[\d\s]*$/.test(textContent(cell)) &&
          (isGutter(cell) || hasCode(cell) || hasCode(last) || numberedCode(table)),
      )
    )
      return undefined;
    gutters += numbers.length;
    if (!hasCode(last) && !numberedCode(table)) return undefined;
    for (const element of elementsIn(last)) if (element.name === "pre") pre ??= element;
    lines.push(codeText(last));
  }
  return gutters === 0 ? undefined : { text: lines.join("\n"), pre };
}

function hasCode(cell: Element): boolean {
  if (
    classNames(cell).some((each) => /^(?:code|blob-code.*|hljs-ln-code|rouge-code|crayon-code|highlight)$/i.test(each))
  )
    return true;
  for (const element of elementsIn(cell)) if (element.name === "pre" || element.name === "code") return true;
  return false;
}

function numberedCode(table: Element): boolean {
  return classNames(table).some((each) => /highlight|hljs-ln|rouge-table|code-?table|syntax/i.test(each));
}

/** Tables that only arrange blocks on the page. */
export function isLayout(table: Element): boolean {
  if (table.attribs.role === "presentation" || table.attribs.role === "none") return true;
  const rows = tableRows(table);
  let columns = 0;
  for (const row of rows) columns = Math.max(columns, rowCells(row).length);
  if (columns > maxColumns) return true;
  let heads = 0;
  for (const element of elementsIn(table)) {
    if (element.name === "table" || element.name === "form") return true;
    if (/^(?:h[1-6]|pre|blockquote|figure|article|section)$/.test(element.name) && !insideHead(element)) return true;
    if (element.name === "th") heads += 1;
  }
  if (columns <= 1 && heads === 0) return true;
  return (
    rows.length === 1 &&
    heads === 0 &&
    rowCells(rows[0] ?? table).some((cell) => squeeze(textContent(cell)).length > 300)
  );
}

function insideHead(element: Element): boolean {
  for (let up = element.parent; up instanceof Element; up = up.parent) {
    if (up.name === "th") return true;
    if (up.name === "table") return false;
  }
  return false;
}

/** A pipe table; `cell` writes one cell on one line. Column spans leave empty cells, row spans repeat their text. */
export function pipeTable(table: Element, cell: (nodes: readonly ChildNode[]) => string): string {
  const grid: Cell[][] = [];
  const rows = tableRows(table);
  const waiting = new Map<number, { cell: Cell; rows: number }>();
  for (const row of rows) {
    const line: Cell[] = [];
    const place = (): void => {
      for (let held = waiting.get(line.length); held; held = waiting.get(line.length)) {
        held.rows -= 1;
        if (held.rows === 0) waiting.delete(line.length);
        line.push(held.cell);
      }
    };
    for (const element of rowCells(row)) {
      place();
      const width = span(element.attribs.colspan, maxColumns);
      const height = span(element.attribs.rowspan, rows.length);
      for (let column = 0; column < width && line.length < maxColumns; column += 1) {
        const entry = { element, text: column === 0 ? escapePipes(cell(element.children)) : "" };
        if (height > 1) waiting.set(line.length, { cell: entry, rows: height - 1 });
        line.push(entry);
      }
    }
    place();
    if (line.length > 0) grid.push(line);
  }
  const width = Math.max(0, ...grid.map((line) => line.length));
  if (width === 0 || grid.every((line) => line.every(({ text }) => text === ""))) return "";
  const headed = grid[0] && isHeader(table, grid[0]) ? grid.shift() : undefined;
  const marks = Array.from({ length: width }, (_, column) => alignment(headed, grid, column));
  const print = (line: readonly Cell[]): string =>
    `| ${Array.from({ length: width }, (_, column) => line[column]?.text ?? "").join(" | ")} |`;
  return [print(headed ?? []), `| ${marks.join(" | ")} |`, ...grid.map(print)].join("\n");
}

function isHeader(table: Element, line: readonly Cell[]): boolean {
  const row = line[0]?.element.parent;
  if (row?.parent instanceof Element && row.parent.name === "thead") return true;
  const heads = line.filter(({ element }) => element.name === "th").length;
  return table.name === "table" && heads > 0 && heads >= line.length - 1;
}

function span(value: string | undefined, most: number): number {
  const number = Number.parseInt(value ?? "1", 10);
  if (number === 0) return most;
  return Number.isFinite(number) ? Math.min(Math.max(1, number), most) : 1;
}

function alignment(headed: readonly Cell[] | undefined, grid: readonly Cell[][], column: number): string {
  const own = headed?.[column] ?? grid[0]?.[column];
  const side = own ? sideOf(own.element) : undefined;
  const body = grid[0]?.[column];
  const found = side ?? (body ? sideOf(body.element) : undefined);
  if (found === "center") return ":-:";
  if (found === "right") return "--:";
  return found === "left" ? ":--" : "---";
}

function sideOf({ attribs }: Element): string | undefined {
  return (
    /text-align\s*:\s*(left|right|center)/i.exec(attribs.style ?? "")?.[1] ??
    /^(left|right|center)$/i.exec(attribs.align ?? "")?.[1]
  )?.toLowerCase();
}

/** Pipes end a cell, even in code. */
function escapePipes(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|");
}
