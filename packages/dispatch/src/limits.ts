import type { BudgetLimits, LaneLimit, LaneLimits, TimeLimits } from "@toolhaft/tasks";

/** Limits of a dispatch task where nobody says otherwise, in milliseconds. */
export const defaultLimits: TimeLimits = {
  queueMs: null,
  startMs: 60_000,
  wallMs: 30 * 60_000,
  idleMs: 10 * 60_000,
  leaseMs: 30_000,
  approvalMs: 24 * 3_600_000,
  cancelGraceMs: 10_000,
};

export const defaultLane: LaneLimit = { limit: 4, reservedSync: 1 };
export const defaultPerOwner = 3;

/** The last list wins, field by field. */
export function mergeLimits(base: TimeLimits, ...more: readonly (Partial<TimeLimits> | undefined)[]): TimeLimits {
  const merged = { ...base };
  for (const one of more) {
    if (one === undefined) continue;
    for (const [name, value] of Object.entries(one)) if (value !== undefined) Object.assign(merged, { [name]: value });
  }
  return merged;
}

/** @throws TypeError naming the field */
export function checkLimits(where: string, limits: Partial<TimeLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in defaultLimits)) throw unknown(`${where}.${name}`, Object.keys(defaultLimits));
    if (value === undefined || (name === "queueMs" && value === null)) continue;
    if (typeof value !== "number" || !(value > 0) || !Number.isFinite(value))
      throw new TypeError(`createDispatch: ${where}.${name} is ${String(value)}; it must be milliseconds above 0`);
  }
}

/** @throws TypeError naming the field */
export function checkLanes(where: string, lanes: LaneLimits): void {
  const known = ["default", "lanes", "perOwner", "total", "holdSlotWhileWaiting"];
  for (const name of Object.keys(lanes)) if (!known.includes(name)) throw unknown(`${where}.${name}`, known);
  checkLane(`${where}.default`, lanes.default);
  for (const [name, lane] of Object.entries(lanes.lanes ?? {})) checkLane(`${where}.lanes.${name}`, lane);
  for (const name of ["perOwner", "total"] as const) {
    const value = lanes[name];
    if (value !== undefined && value !== null && !(Number.isInteger(value) && value > 0))
      throw new TypeError(`createDispatch: ${where}.${name} is ${String(value)}; it must be a whole number above 0`);
  }
}

function checkLane(where: string, lane: LaneLimit): void {
  const { limit, reservedSync } = lane;
  if (!Number.isInteger(limit) || limit < 1)
    throw new TypeError(`createDispatch: ${where}.limit is ${String(limit)}; it must be a whole number above 0`);
  if (!Number.isInteger(reservedSync) || reservedSync < 0 || reservedSync >= limit)
    throw new TypeError(
      `createDispatch: ${where}.reservedSync is ${String(reservedSync)}; it must be 0 to ${limit - 1}, below limit`,
    );
}

const measures = ["inputTokens", "outputTokens", "totalTokens", "costUsd", "sessions"];

/** @throws TypeError naming the field */
export function checkBudget(where: string, budget: BudgetLimits | undefined): void {
  for (const [name, value] of Object.entries(budget ?? {})) {
    if (!measures.includes(name)) throw unknown(`${where}.${name}`, measures);
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw new TypeError(`createDispatch: ${where}.${name} is ${String(value)}; it must be a number, 0 or more`);
  }
}

/** @throws TypeError naming the field */
export function checkKnown(where: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) if (!known.includes(name)) throw unknown(`${where}${name}`, known);
}

function unknown(name: string, known: readonly string[]): TypeError {
  return new TypeError(`createDispatch: unknown option ${name}; there are: ${known.join(", ")}`);
}
