import { existsSync } from "node:fs";
import type { Location, LocationLink } from "vscode-languageserver-protocol";
import type { Page, Place, Range } from "./answer.ts";
import type { Call } from "./ask.ts";
import type { OpenFile } from "./open-file.ts";
import { compareRanges, excerpt } from "./positions.ts";
import type { FileText } from "./texts.ts";
import { isInside, realPathOf, shownPath, uriToPath } from "./uris.ts";

/** A spot as servers name it. */
export interface Spot {
  uri: string;
  range: Range;
  name?: string | undefined;
  kind?: string | undefined;
}

/** Whether an answer names no place at all. */
export function hasNoSpots(result: Location | readonly (Location | LocationLink)[] | null | undefined): boolean {
  return !result || (Array.isArray(result) && result.length === 0);
}

/** `Location`, `Location[]` and `LocationLink[]` as one list. */
export function spotsOf(result: Location | readonly (Location | LocationLink)[] | null | undefined): Spot[] {
  if (!result) return [];
  const list: readonly (Location | LocationLink)[] = Array.isArray(result) ? result : [result as Location];
  return list.map((one) =>
    "targetUri" in one ? { uri: one.targetUri, range: one.targetSelectionRange } : { uri: one.uri, range: one.range },
  );
}

/** The places in one file, in order, each once. */
interface FileSpots {
  /** Real path, or the URI of a foreign scheme. */
  file: string;
  local: boolean;
  shown: string;
  spots: Spot[];
}

/** Each place once, by path and position; places in files that are gone are dropped. */
export function sortSpots(spots: readonly Spot[], shown: (file: string) => string): FileSpots[] {
  const byFile = new Map<string, FileSpots>();
  // one look at each spelling: ten thousand places lie in a few hundred files
  const byUri = new Map<string, FileSpots | undefined>();
  const lookUp = (uri: string): FileSpots | undefined => {
    const path = uriToPath(uri);
    if (path !== undefined && !existsSync(path)) return undefined;
    const file = path === undefined ? uri : realPathOf(path);
    let found = byFile.get(file);
    if (!found) {
      found = { file, local: path !== undefined, shown: path === undefined ? uri : shown(file), spots: [] };
      byFile.set(file, found);
    }
    return found;
  };
  for (const spot of spots) {
    let found = byUri.get(spot.uri);
    if (!found && !byUri.has(spot.uri)) {
      found = lookUp(spot.uri);
      byUri.set(spot.uri, found);
    }
    found?.spots.push(spot);
  }
  for (const one of byFile.values()) one.spots = inOrderOnce(one.spots);
  return [...byFile.values()].sort((a, b) => (a.shown < b.shown ? -1 : a.shown > b.shown ? 1 : 0));
}

/** Sorted by range; of equal ranges the first one stays. */
function inOrderOnce(spots: Spot[]): Spot[] {
  let ordered = true;
  for (let at = 1; at < spots.length && ordered; at++) ordered = orderAt(spots, at) < 0;
  if (ordered) return spots;
  spots.sort((a, b) => compareRanges(a.range, b.range));
  return spots.filter((_, at) => at === 0 || orderAt(spots, at) !== 0);
}

function orderAt(spots: readonly Spot[], at: number): number {
  const [before, here] = [spots[at - 1], spots[at]];
  return before && here ? compareRanges(before.range, here.range) : 0;
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
  const found = sortSpots(spots, shownIn(call, file));
  const places: Place[] = [];
  const texts: TextMemory = new Map();
  let total = 0;
  for (const one of found) {
    const from = Math.max(0, page.offset - total);
    const to = Math.min(one.spots.length, page.offset + page.limit - total);
    for (const spot of one.spots.slice(from, Math.max(from, to))) {
      const text = await lineOf(call, file, { file: one.file, local: one.local, range: spot.range }, texts);
      places.push({
        path: one.shown,
        range: spot.range,
        ...(spot.name !== undefined && { name: spot.name }),
        ...(spot.kind !== undefined && { kind: spot.kind }),
        ...(text !== undefined && { text }),
      });
    }
    total += one.spots.length;
  }
  return { places, files: found.length, total, offset: page.offset, shown: places.length };
}

/** Texts that were read for one page. */
type TextMemory = Map<string, FileText | undefined>;

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
