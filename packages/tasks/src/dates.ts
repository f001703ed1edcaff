import { ToolError } from "@toolhaft/core";

const form = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const dayMs = 86_400_000;

/**
 * A moment in milliseconds. A bare date is the first, or with `edge` the last, moment of that UTC day; a time without
 * offset is UTC.
 *
 * @throws ToolError `invalid_input` naming the field
 */
export function momentOf(field: string, text: string, edge: "start" | "end" = "start"): number {
  const match = form.exec(text);
  if (match !== null) {
    const [, year, month, day, hour, minute, second, fraction, zone] = match;
    const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
    const real = new Date(date).toISOString().slice(0, 10) === text.slice(0, 10);
    if (real && hour === undefined) return edge === "start" ? date : date + dayMs - 1;
    if (real && Number(hour) < 24 && Number(minute) < 60 && Number(second ?? 0) < 60) {
      const milliseconds = Math.floor(Number(`0.${fraction ?? 0}`) * 1_000);
      const wall = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second ?? 0)) * 1_000 + milliseconds;
      return date + wall - offsetOf(zone);
    }
  }
  throw new ToolError("invalid_input", `${field} is not a date: write 2026-03-02 or 2026-03-02T09:00:00Z`);
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith("-") ? -minutes : minutes) * 60_000;
}

/** @throws ToolError `invalid_input` for what is no date, and for a range that ends before it begins */
export function rangeOf(from: string | undefined, to: string | undefined): { from?: number; to?: number } {
  const start = from === undefined ? undefined : momentOf("from_date", from, "start");
  const end = to === undefined ? undefined : momentOf("to_date", to, "end");
  if (start !== undefined && end !== undefined && start > end) {
    throw new ToolError("invalid_input", "from_date is later than to_date", { hint: "swap them" });
  }
  return { ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) };
}

/** `2026-11-30 08:12:04`, in UTC. */
export function showTime(iso: string | null): string {
  return iso === null ? "–" : `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

/** `840ms`, `28s`, `2m 14s`, `3h 5m`, `2d 4h`. */
export function showDuration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1_000) return `${ms}ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
