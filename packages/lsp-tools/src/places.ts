import { existsSync } from "node:fs";
import type { Location, LocationLink } from "vscode-languageserver-protocol";
import type { Page, Place, Range } from "./answer.ts";
import type { Call } from "./ask.ts";
import type { OpenFile } from "./open-file.ts";
import { compareRanges, excerpt } from "./positions.ts";
import type { FileText } from "./texts.ts";
import { isInside, realPathOf, shownPath, uriKey, uriToPath } from "./uris.ts";

/** A spot as servers name it. */
export interface Spot {
  uri: string;
  range: Range;
  name?: string | undefined;
  kind?: string | undefined;
}

/** `Location`, `Location[]` and `LocationLink[]` as one list. */
export function spotsOf(result: Location | readonly (Location | LocationLink)[] | null | undefined): Spot[] {
  if (!result) return [];
  const list: readonly (Location | LocationLink)[] = Array.isArray(result) ? result : [result as Location];
  return list.map((one) =>
    "targetUri" in one ? { uri: one.targetUri, range: one.targetSelectionRange } : { uri: one.uri, range: one.range },
  );
}

interface Sorted extends Spot {
  /** Real path, or the URI of a foreign scheme. */
  file: string;
  local: boolean;
}

/** Each place once, sorted by path and position; places in files that are gone are dropped. */
export function sortSpots(spots: readonly Spot[], shown: (file: string) => string): Sorted[] {
  const files = new Map<string, { file: string; local: boolean } | undefined>();
  const keys = new Map<string, string>();
  const fileOf = (uri: string) => {
    // one look at each spelling: ten thousand places lie in a few hundred files
    const key = keys.get(uri) ?? uriKey(uri);
    keys.set(uri, key);
    if (!files.has(key)) {
      const path = uriToPath(uri);
      if (path === undefined) files.set(key, { file: uri, local: false });
      else files.set(key, existsSync(path) ? { file: realPathOf(path), local: true } : undefined);
    }
    return files.get(key);
  };
  const unique = new Map<string, Sorted>();
  for (const spot of spots) {
    const found = fileOf(spot.uri);
    if (!found) continue;
    const { start, end } = spot.range;
    const key = `${found.file}\0${start.line}:${start.character}-${end.line}:${end.character}`;
    if (!unique.has(key)) unique.set(key, { ...spot, ...found });
  }
  const names = new Map<string, string>();
  const nameOf = (file: string) => {
    const known = names.get(file);
    if (known !== undefined) return known;
    const name = shown(file);
    names.set(file, name);
    return name;
  };
  return [...unique.values()].sort((a, b) => {
    if (a.file === b.file) return compareRanges(a.range, b.range);
    const left = nameOf(a.file);
    const right = nameOf(b.file);
    return left < right ? -1 : left > right ? 1 : 0;
  });
}

/** How a real path is shown in this call: in the caller's spelling for the file that was asked about. */
export function shownIn(call: Call, file: OpenFile | undefined): (path: string) => string {
  return (path) => (file && path === file.text.path ? file.shown : shownPath(call.scope.directory, path));
}

export interface PlacePage extends Page {
  places: Place[];
  files: number;
}

/** One page of places, with the source lines of those inside the directory. */
export async function pageOfPlaces(
  call: Call,
  file: OpenFile | undefined,
  spots: readonly Spot[],
  page: { limit: number; offset: number },
): Promise<PlacePage> {
  const shown = shownIn(call, file);
  const all = sortSpots(spots, shown);
  const slice = all.slice(page.offset, page.offset + page.limit);
  const places: Place[] = [];
  const texts: TextMemory = new Map();
  for (const spot of slice) places.push(await placeOf(call, file, spot, texts));
  const files = new Set(all.map((spot) => spot.file)).size;
  return { places, files, total: all.length, offset: page.offset, shown: places.length };
}

/** Texts that were read for one page. */
type TextMemory = Map<string, FileText | undefined>;

async function placeOf(call: Call, file: OpenFile | undefined, spot: Sorted, texts: TextMemory): Promise<Place> {
  const text = await lineOf(call, file, spot, texts);
  return {
    path: spot.local ? shownIn(call, file)(spot.file) : spot.file,
    range: spot.range,
    ...(spot.name !== undefined && { name: spot.name }),
    ...(spot.kind !== undefined && { kind: spot.kind }),
    ...(text !== undefined && { text }),
  };
}

/** The source line of a place, when it lies in the directory or in the file that was asked about. */
export async function lineOf(
  call: Call,
  file: OpenFile | undefined,
  spot: { file: string; local: boolean; range: Range },
  texts: TextMemory = new Map(),
): Promise<string | undefined> {
  if (!spot.local) return undefined;
  const asked = file?.text.path === spot.file ? file.text : undefined;
  if (!asked && !isInside(call.scope.directory, spot.file)) return undefined;
  if (!asked && !texts.has(spot.file)) texts.set(spot.file, await call.engine.texts.tryRead(spot.file, call.scope));
  const text = asked ?? texts.get(spot.file);
  return text && excerpt(text.source.line(spot.range.start.line), spot.range.start.character);
}

/** A URI as a shown path. */
export function pathOfUri(call: Call, file: OpenFile | undefined, uri: string): string {
  const path = uriToPath(uri);
  return path === undefined ? uri : shownIn(call, file)(realPathOf(path));
}
