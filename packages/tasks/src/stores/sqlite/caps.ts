import type { Database } from "@toolhaft/sqlite";
import type { TaskRecord } from "../../record.ts";
import type { LaneLimit, LaneLimits } from "../../store.ts";

export const defaultLanes: LaneLimits = { default: { limit: 4, reservedSync: 1 }, perOwner: 3 };

type Active = Pick<TaskRecord, "seq" | "id" | "lane" | "class" | "owner" | "slot_of" | "state" | "attached">;

/** What is running, counted from the rows under the write lock; there is no other counter. */
export interface Caps {
  /** Whether one more fits. */
  admits(row: TaskRecord): boolean;
  /** Counts one that was just claimed. */
  add(row: TaskRecord): void;
  /** Lanes in which nothing fits any more, so that they need not be looked through. */
  fullLanes(): string[];
}

export interface LaneCount {
  sync: number;
  background: number;
}

/** Rows that take a slot now. A child that uses its waiting parent's slot takes none. */
export function countedActive(db: Database, limits: LaneLimits): Active[] {
  const rows = db.all<Active>(
    `SELECT seq, id, lane, class, owner, slot_of, state, attached FROM task
     WHERE kind = 'dispatch' AND (lease_until IS NOT NULL OR state = 'waiting')`,
  );
  const working = new Set(rows.filter(isWorking).map(({ id }) => id));
  const hold = limits.holdSlotWhileWaiting === true;
  return rows.filter((row) => {
    if (!isWorking(row)) return hold && (row.state === "waiting" || row.attached === 1);
    return row.slot_of === null || !working.has(row.slot_of);
  });
}

function isWorking(row: Active): boolean {
  return row.state === "starting" || row.state === "running";
}

export function limitOf(limits: LaneLimits, lane: string | null): LaneLimit {
  return limits.lanes?.[lane ?? ""] ?? limits.default;
}

export function countCaps(db: Database, limits: LaneLimits): Caps {
  const lanes = new Map<string, LaneCount>();
  const owners = new Map<string, number>();
  const counted = countedActive(db, limits);
  const mine = new Set(counted.map(({ seq }) => seq));
  let total = 0;
  for (const row of counted) count(row);

  return {
    admits(row) {
      if (lends(row)) return true;
      // A task whose slot was held while it waited goes on in it.
      if (mine.has(row.seq)) return true;
      const { limit, reservedSync } = limitOf(limits, row.lane);
      const { sync, background } = lanes.get(row.lane ?? "") ?? { sync: 0, background: 0 };
      if (sync + background >= limit) return false;
      if (row.class !== "sync" && background >= limit - reservedSync) return false;
      if (limits.perOwner != null && (owners.get(row.owner) ?? 0) >= limits.perOwner) return false;
      return limits.total == null || total < limits.total;
    },
    add(row) {
      if (!lends(row) && !mine.has(row.seq)) count(row);
    },
    fullLanes: () =>
      [...lanes]
        .filter(([lane, { sync, background }]) => sync + background >= limitOf(limits, lane).limit)
        .map(([lane]) => lane),
  };

  function count(row: Pick<Active, "lane" | "class" | "owner">): void {
    const lane = lanes.get(row.lane ?? "") ?? { sync: 0, background: 0 };
    lane[row.class === "sync" ? "sync" : "background"]++;
    lanes.set(row.lane ?? "", lane);
    owners.set(row.owner, (owners.get(row.owner) ?? 0) + 1);
    total++;
  }

  /** Whether its parent waits for it and has no other child in its slot. */
  function lends(row: Pick<TaskRecord, "seq" | "slot_of">): boolean {
    if (row.slot_of === null) return false;
    return (
      db.get("SELECT 1 FROM task WHERE id = ? AND state IN ('starting', 'running')", [row.slot_of]) !== undefined &&
      db.get("SELECT 1 FROM task WHERE parent = ? AND slot_of = ? AND state IN ('starting', 'running') AND seq <> ?", [
        row.slot_of,
        row.slot_of,
        row.seq,
      ]) === undefined
    );
  }
}
