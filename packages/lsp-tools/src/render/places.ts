import type { Place } from "../answer.ts";
import { at, type TextItem } from "./text.ts";

/** Places grouped by file, one item for each source line with all its columns. */
export function placeItems(
  places: readonly Place[],
  base: number,
  mark: (place: Place) => string = () => "",
): TextItem[] {
  const items: TextItem[] = [];
  let last: { path: string; line: number } | undefined;
  for (const place of places) {
    const { line, character } = place.range.start;
    const previous = items.at(-1);
    const column = `${character + base}${mark(place)}`;
    if (previous && last?.path === place.path && last.line === line) {
      const space = previous.text.indexOf(" ", 1);
      const end = space < 0 ? previous.text.length : space;
      previous.text = `${previous.text.slice(0, end)},${column}${previous.text.slice(end)}`;
      previous.count = (previous.count ?? 1) + 1;
      continue;
    }
    const text = place.text === undefined ? "" : ` ${place.text}`;
    items.push({ group: place.path, text: ` ${at({ line, character }, base)}${mark(place)}${text}`, count: 1 });
    last = { path: place.path, line };
  }
  return items;
}

/** One item a file: `src/a.ts 54:14 558:25 782:54,173`. */
export function positionItems(
  places: readonly Place[],
  base: number,
  mark: (place: Place) => string = () => "",
): TextItem[] {
  const byFile = new Map<string, Place[]>();
  for (const place of places) byFile.set(place.path, [...(byFile.get(place.path) ?? []), place]);
  return [...byFile].map(([path, list]) => ({
    text: `${path} ${lineColumns(list, base, mark)}`,
    count: list.length,
  }));
}

/** `12:4w 18:10,22` */
export function lineColumns(places: readonly Place[], base: number, mark: (place: Place) => string = () => ""): string {
  const lines = new Map<number, string[]>();
  for (const place of places) {
    const { line, character } = place.range.start;
    lines.set(line, [...(lines.get(line) ?? []), `${character + base}${mark(place)}`]);
  }
  return [...lines].map(([line, columns]) => `${line + base}:${columns.join(",")}`).join(" ");
}
