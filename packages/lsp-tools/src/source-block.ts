import { resolve } from "node:path";
import type { Place } from "./answer.ts";
import type { Call } from "./ask.ts";
import type { OpenFile } from "./open-file.ts";
import { excerpt } from "./positions.ts";
import { realPathOf } from "./uris.ts";

const around = 2;

/** The same places with two lines around each in their text. */
export async function withBlocks(call: Call, file: OpenFile, places: readonly Place[]): Promise<Place[]> {
  const result: Place[] = [];
  for (const place of places) {
    if (place.text === undefined) {
      result.push(place);
      continue;
    }
    const path = place.path === file.shown ? file.text.path : realPathOf(resolve(call.scope.directory, place.path));
    const text = path === file.text.path ? file.text : await call.engine.texts.tryRead(path, call.scope);
    const { line, character } = place.range.start;
    const lines: string[] = [];
    for (let at = Math.max(0, line - around); text && at <= Math.min(text.source.lineCount - 1, line + around); at++) {
      const source = text.source.line(at);
      lines.push(
        `${at === line ? ">" : " "} ${source.length > 100 ? excerpt(source, at === line ? character : 0) : source}`,
      );
    }
    result.push({ ...place, text: `\n${lines.join("\n")}` });
  }
  return result;
}
