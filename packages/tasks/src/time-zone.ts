/** Moments into what a clock on the wall of a zone shows. Made once per query: `Intl` is slow to make. */
export interface ZoneClock {
  /** `2026-03-02` */
  day(moment: number): string;
  /** `2026-03-02T09` and the offset, since an hour may come twice: `2026-10-25T02+01:00`. */
  hour(moment: number): string;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** @throws RangeError for an unknown zone */
export function zoneClock(timeZone: string): ZoneClock {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const shown = (moment: number): number => {
    const part = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const at = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? 0;
    return Date.UTC(at("year"), at("month") - 1, at("day"), at("hour"), at("minute"));
  };
  return {
    day: (moment) => new Date(shown(moment)).toISOString().slice(0, 10),
    hour(moment) {
      const wall = shown(moment);
      const offset = Math.round((wall - Math.floor(moment / 60_000) * 60_000) / 60_000);
      return `${new Date(wall).toISOString().slice(0, 13)}${offsetText(offset)}`;
    },
  };
}

function offsetText(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
