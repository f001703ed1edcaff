import { ToolError } from "@toolhaft/core";

const bare = /^(\d{4})-(\d{2})-(\d{2})$/;
const full = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/;
const dayMs = 24 * 3_600_000;

/** A range of time in milliseconds, both ends inclusive. A bare date is the whole day in the time zone. */
export function rangeOf(
  from: string | undefined,
  to: string | undefined,
  timeZone: string,
): { from?: number; to?: number } {
  const start = from === undefined ? undefined : momentOf("from_date", from, timeZone, "start");
  const end = to === undefined ? undefined : momentOf("to_date", to, timeZone, "end");
  if (start !== undefined && end !== undefined && start > end) {
    throw new ToolError("invalid_input", "from_date is after to_date", { hint: "swap them" });
  }
  return { ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) };
}

function momentOf(name: string, value: string, timeZone: string, edge: "start" | "end"): number {
  const day = bare.exec(value);
  if (day !== null) {
    const [, year, month, date] = day.map(Number);
    const utc = Date.UTC(year ?? 0, (month ?? 0) - 1, date);
    if (new Date(utc).toISOString().slice(0, 10) === value) {
      return edge === "start" ? midnight(utc, timeZone) : midnight(utc + dayMs, timeZone) - 1;
    }
  } else if (full.test(value)) {
    const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(value) ? Date.parse(value) : wallTime(Date.parse(`${value}Z`), timeZone);
    if (!Number.isNaN(zoned)) return zoned;
  }
  throw new ToolError("invalid_input", `${name} is not a date: write 2026-03-02 or 2026-03-02T09:00:00Z`);
}

/** The moment at which a day begins in a time zone, from that day's midnight in UTC. */
function midnight(utc: number, timeZone: string): number {
  return wallTime(utc, timeZone);
}

/** The moment at which clocks of the zone show what UTC clocks show at `utc`. Twice, for days on which clocks change. */
function wallTime(utc: number, timeZone: string): number {
  const first = utc - offsetAt(utc, timeZone);
  return utc - offsetAt(first, timeZone);
}

function offsetAt(moment: number, timeZone: string): number {
  // A formatter for each of a hundred rows takes longer than the list itself.
  if (timeZone === "UTC") return 0;
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(moment);
  const value = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0);
  const shown = Date.UTC(
    value("year"),
    value("month") - 1,
    value("day"),
    value("hour"),
    value("minute"),
    value("second"),
  );
  return shown - Math.floor(moment / 1000) * 1000;
}

/** `2026-03-02 09:00` in a time zone. */
export function showTime(iso: string | null, timeZone: string, seconds = false): string {
  if (iso === null || iso === "") return "unknown time";
  const moment = Date.parse(iso);
  if (Number.isNaN(moment)) return "unknown time";
  const text = new Date(moment + offsetAt(moment, timeZone)).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, seconds ? 19 : 16)}`;
}

/** `28s`, `2m 10s`, `3h 5m`. */
export function showDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
