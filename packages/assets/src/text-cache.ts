/** Texts by path, kept while the file is the same; the least used go first. */
export interface TextCache<T> {
  get(path: string, version: string): T | undefined;
  put(path: string, version: string, value: T): void;
  clear(): void;
}

const mostBytes = 32 * 1024 * 1024;

/** @param sizeOf bytes that a value takes, about */
export function createTextCache<T>(sizeOf: (value: T) => number): TextCache<T> {
  const kept = new Map<string, { version: string; value: T; size: number }>();
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
      return found.value;
    },
    put(path, version, value) {
      drop(path);
      const size = sizeOf(value);
      if (size > mostBytes / 4) return;
      kept.set(path, { version, value, size });
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
