import type { Remaining, TaskKind, TaskState } from "@toolhaft/tasks";
import { heapOf } from "@toolhaft/tasks/adapter";
import type { Transaction } from "../database.ts";

interface Move {
  owner: string;
  kind: TaskKind;
  running: number;
  queued: number;
  waiting: number;
}

/**
 * Counts the owners' open tasks along with every change of a state, so that an end knows what is left. What one
 * transaction moves is written at once and in the order of owners: two that claim tasks of the same owners would
 * otherwise each hold what the other waits for.
 */
export class Tally {
  readonly #db: Transaction;
  readonly #moves = new Map<string, Move>();

  constructor(db: Transaction) {
    this.#db = db;
  }

  move(owner: string, kind: TaskKind, from: TaskState | null, to: TaskState | null): void {
    const [left, entered] = [heapOf(from), heapOf(to)];
    if (left === entered) return;
    const key = JSON.stringify([owner, kind]);
    const move = this.#moves.get(key) ?? { owner, kind, running: 0, queued: 0, waiting: 0 };
    if (left !== null) move[left] -= 1;
    if (entered !== null) move[entered] += 1;
    this.#moves.set(key, move);
  }

  async write(): Promise<void> {
    const moves = [...this.#moves.values()].filter(({ running, queued, waiting }) => running || queued || waiting);
    this.#moves.clear();
    if (moves.length === 0) return;
    await this.#db.run(
      `INSERT INTO @tally AS y(owner, kind, running, queued, waiting)
       SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[]) AS m(owner, kind, running, queued, waiting)
       ORDER BY owner COLLATE "C", kind
       ON CONFLICT(owner, kind) DO UPDATE SET running = y.running + excluded.running, queued = y.queued + excluded.queued,
         waiting = y.waiting + excluded.waiting`,
      [
        moves.map(({ owner }) => owner),
        moves.map(({ kind }) => kind),
        moves.map(({ running }) => running),
        moves.map(({ queued }) => queued),
        moves.map(({ waiting }) => waiting),
      ],
    );
  }

  /** What is left, and the time: with the row of the tally locked, a later end has a later time. */
  async remaining(owner: string, kind: TaskKind): Promise<Remaining & { now: number }> {
    await this.write();
    const found = await this.#db.get<Remaining & { now: number }>(
      "SELECT running, queued, waiting, @clock_ms() AS now FROM @tally WHERE owner = ? AND kind = ?",
      [owner, kind],
    );
    return found ?? { running: 0, queued: 0, waiting: 0, now: this.#db.now };
  }
}
