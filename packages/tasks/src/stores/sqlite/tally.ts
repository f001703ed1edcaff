import type { Database } from "@toolhaft/sqlite";
import { heapOf } from "../../edges.ts";
import type { Remaining, TaskKind, TaskState } from "../../model.ts";

/** The open tasks of owners, counted along with every change of a state, so that an end knows what is left. */
export interface Tally {
  move(owner: string, kind: TaskKind, from: TaskState | null, to: TaskState | null): void;
  remaining(owner: string, kind: TaskKind): Readonly<Remaining>;
  /** Writes what has changed; the last thing a transaction does. */
  save(): void;
}

interface Count extends Remaining {
  owner: string;
  kind: TaskKind;
  changed: boolean;
}

/** The counts of one transaction: each is read once and written once, however many tasks move. */
export function openTally(db: Database): Tally {
  const counts = new Map<string, Count>();

  function countOf(owner: string, kind: TaskKind): Count {
    const key = `${kind} ${owner}`;
    const known = counts.get(key);
    if (known !== undefined) return known;
    const stored = db.get<Remaining>("SELECT running, queued, waiting FROM tally WHERE owner = ? AND kind = ?", [
      owner,
      kind,
    ]);
    const { running = 0, queued = 0, waiting = 0 } = stored ?? {};
    const count: Count = { owner, kind, running, queued, waiting, changed: false };
    counts.set(key, count);
    return count;
  }

  return {
    move(owner, kind, from, to) {
      const [left, entered] = [heapOf(from), heapOf(to)];
      if (left === entered) return;
      const count = countOf(owner, kind);
      if (left !== null) count[left]--;
      if (entered !== null) count[entered]++;
      count.changed = true;
    },
    remaining: countOf,
    save() {
      for (const { owner, kind, running, queued, waiting, changed } of counts.values()) {
        if (!changed) continue;
        db.run(
          `INSERT INTO tally(owner, kind, running, queued, waiting) VALUES(?, ?, ?, ?, ?) ON CONFLICT(owner, kind)
           DO UPDATE SET running = excluded.running, queued = excluded.queued, waiting = excluded.waiting`,
          [owner, kind, running, queued, waiting],
        );
      }
    },
  };
}
