/** Texts of references by real path, kept while the file is the same; the least used go first. */
export interface TextCache {
  get(path: string, version: string): readonly string[] | undefined;
  put(path: string, version: string, lines: readonly string[]): void;
  clear(): void;
}

const mostBytes = 32 * 1024 * 1024;

export function createTextCache(): TextCache {
  const kept = new Map<string, { version: string; lines: readonly string[]; size: number }>();
  let total = 0;
  const drop = (path: string): void => {
    total -= kept.get(path)?.size ?? 0;
    kept.delete(path);
  };
  return {
    get(path, version) {
      const found = kept.get(path);
      if (!found || found.version !== version) return undefined;
      kept.delete(path);
      kept.set(path, found);
      return found.lines;
    },
    put(path, version, lines) {
      drop(path);
      const size = lines.reduce((sum, line) => sum + line.length * 2 + 32, 0);
      if (size > mostBytes / 4) return;
      kept.set(path, { version, lines, size });
      total += size;
      for (const [oldest] of kept) {
        if (total <= mostBytes) return;
        drop(oldest);
      }
    },
    clear() {
      kept.clear();
      total = 0;
    },
  };
}
