/** Work that a server reports by `$/progress`. */
export interface RunningWork {
  title: string;
  message: string | undefined;
  percentage: number | undefined;
  since: number;
}

export interface ProgressTracker {
  /** Whether a work-done progress ever began. */
  readonly seen: boolean;
  /** Work that runs now, less ignored titles. */
  running(): RunningWork[];
  /** "indexing, 62 %" */
  describe(): string | undefined;
  handle(params: unknown): void;
  /** Calls back on every change. */
  onChange(listener: () => void): () => void;
}

export function createProgressTracker(ignoreTitles: readonly string[] = []): ProgressTracker {
  const works = new Map<string | number, RunningWork>();
  const listeners = new Set<() => void>();
  const ignored = (title: string) =>
    ignoreTitles.some((part) => (part === "" ? title === "" : title.toLowerCase().includes(part.toLowerCase())));
  let seen = false;
  const running = () => [...works.values()].filter((work) => !ignored(work.title));
  return {
    get seen() {
      return seen;
    },
    running,
    describe() {
      const [work] = running();
      if (work === undefined) return undefined;
      const parts = [
        work.title,
        work.message,
        work.percentage === undefined ? undefined : `${Math.round(work.percentage)} %`,
      ];
      return parts.filter((part) => part).join(", ");
    },
    handle(params) {
      if (typeof params !== "object" || params === null) return;
      const { token, value } = params as { token?: unknown; value?: unknown };
      if ((typeof token !== "string" && typeof token !== "number") || typeof value !== "object" || value === null)
        return;
      const { kind, title, message, percentage } = value as Record<string, unknown>;
      const work = works.get(token);
      const shared = {
        message: typeof message === "string" ? message : work?.message,
        percentage: typeof percentage === "number" ? percentage : work?.percentage,
      };
      if (kind === "begin") {
        works.set(token, { title: typeof title === "string" ? title : "", since: performance.now(), ...shared });
        if (!ignored(typeof title === "string" ? title : "")) seen = true;
      } else if (kind === "report" && work) works.set(token, { ...work, ...shared });
      else if (kind === "end") works.delete(token);
      for (const listener of [...listeners]) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
