import type { LaneLimit, LaneLimits } from "@toolhaft/tasks";
import { isHeld, type TaskRecord } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";

export const defaultLanes: LaneLimits = { default: { limit: 4, reservedSync: 1 }, perOwner: 3 };

type Active = Pick<TaskRecord, "seq" | "id" | "lane" | "class" | "owner" | "slot_of" | "state" | "attached">;

/** What is running, counted from the rows under the lock of the caps; there is no other counter. */
export interface Caps {
  /** Whether one more fits. */
  admits(row: TaskRecord): boolean;
  /** Counts one that was just claimed. */
  add(row: TaskRecord): void;
  /** Lanes in which nothing fits any more, so that they need not be looked through. */
  fullLanes(): string[];
}

/** Taken before counting: two claims that count at once would each see the same free slot. */
export async function lockCaps(db: Sql): Promise<void> {
  await db.get("SELECT pg_advisory_xact_lock(hashtextextended('caps of @task', 0))");
}

async function readActive(db: Sql): Promise<Active[]> {
  return db.all<Active>(
    `SELECT seq, id, lane, class, owner, slot_of, state, attached FROM @task
     WHERE kind = 'dispatch' AND (lease_until IS NOT NULL OR state = 'waiting')`,
  );
}

/** Rows that take a slot now. A child that uses its waiting parent's slot takes none. */
export async function countedActive(db: Sql, limits: LaneLimits): Promise<Active[]> {
  return counted(await readActive(db), limits);
}

function counted(rows: readonly Active[], limits: LaneLimits): Active[] {
  const working = new Set(rows.filter(isHeld).map(({ id }) => id));
  const hold = limits.holdSlotWhileWaiting === true;
  return rows.filter((row) => {
    if (!isHeld(row)) return hold && (row.state === "waiting" || row.attached === 1);
    return row.slot_of === null || !working.has(row.slot_of);
  });
}

export function limitOf(limits: LaneLimits, lane: string | null): LaneLimit {
  return limits.lanes?.[lane ?? ""] ?? limits.default;
}

export async function countCaps(db: Sql, limits: LaneLimits): Promise<Caps> {
  const active = await readActive(db);
  const working = new Set(active.filter(isHeld).map(({ id }) => id));
  /** Parents whose slot is lent already, and to whom. */
  const lent = new Map(active.filter(isHeld).flatMap(({ slot_of, seq }) => (slot_of === null ? [] : [[slot_of, seq]])));
  const lanes = new Map<string, { sync: number; background: number }>();
  const owners = new Map<string, number>();
  const slots = counted(active, limits);
  const mine = new Set(slots.map(({ seq }) => seq));
  let total = 0;
  for (const row of slots) count(row);

  return {
    admits(row) {
      // A task whose slot was held while it waited goes on in it.
      if (isLent(row) || mine.has(row.seq)) return true;
      const { limit, reservedSync } = limitOf(limits, row.lane);
      const { sync, background } = lanes.get(row.lane ?? "") ?? { sync: 0, background: 0 };
      if (sync + background >= limit) return false;
      if (row.class !== "sync" && background >= limit - reservedSync) return false;
      if (limits.perOwner != null && (owners.get(row.owner) ?? 0) >= limits.perOwner) return false;
      return limits.total == null || total < limits.total;
    },
    add(row) {
      if (!isLent(row) && !mine.has(row.seq)) count(row);
      working.add(row.id);
      if (row.slot_of !== null) lent.set(row.slot_of, row.seq);
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
  function isLent(row: Pick<TaskRecord, "seq" | "slot_of">): boolean {
    if (row.slot_of === null || !working.has(row.slot_of)) return false;
    return (lent.get(row.slot_of) ?? row.seq) === row.seq;
  }
}
