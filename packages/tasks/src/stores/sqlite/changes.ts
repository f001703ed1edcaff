import type { Database } from "@toolhaft/sqlite";
import type { ChangeHint } from "../../store.ts";
import type { TasksFile } from "./file.ts";

/** How often changes of other processes are looked for, in milliseconds. */
const pollMs = 200;

export interface Changes {
  listen(listener: (hint: ChangeHint) => void): Promise<AsyncDisposable>;
  close(): void;
}

/** Tells own changes at once; those of other processes are seen by `data_version` while anybody listens. */
export function watchChanges(file: TasksFile): Changes {
  const listeners = new Set<(hint: ChangeHint) => void>();
  let timer: NodeJS.Timeout | undefined;
  let version: number | undefined;
  const tell = (hint: ChangeHint): void => {
    for (const listener of [...listeners]) listener(hint);
  };
  file.listen(tell);
  return {
    async listen(listener) {
      const found = await file.read(versionOf);
      const own = (hint: ChangeHint): void => listener(hint);
      listeners.add(own);
      version ??= found;
      timer ??= setInterval(look, pollMs).unref();
      return {
        async [Symbol.asyncDispose]() {
          listeners.delete(own);
          if (listeners.size === 0) stop();
        },
      };
    },
    close() {
      listeners.clear();
      stop();
    },
  };

  function look(): void {
    file
      .read(versionOf)
      .then((found) => {
        const changed = version !== undefined && found !== version;
        version = found;
        if (changed) tell({ kind: "unknown" });
      })
      // The next call of a method tells what is wrong; a hint is only a hint.
      .catch(() => tell({ kind: "unknown" }));
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    version = undefined;
  }
}

/** Changes when another connection has committed. */
function versionOf(db: Database): number {
  return db.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
}
