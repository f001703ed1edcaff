import { createTextCache } from "../../text-cache.ts";
import { readRegular } from "./read-bytes.ts";

/** Texts of defining files below their headers, for snippets; those read last are kept. */
export interface FileTexts {
  /** Undefined where the file cannot be read. */
  read(path: string, version: string): string | undefined;
  clear(): void;
}

const header = /^\ufeff?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/;

export function createFileTexts(): FileTexts {
  const kept = createTextCache<string>((text) => text.length * 2);
  return {
    read(path, version) {
      const known = kept.get(path, version);
      if (known !== undefined) return known;
      const read = readRegular(path);
      if (!read.ok) return undefined;
      const text = read.bytes.toString("utf8").replace(header, "");
      kept.put(path, version, text);
      return text;
    },
    clear: kept.clear,
  };
}
