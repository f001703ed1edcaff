const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** ISO 8601, as exact as the source was; undefined for what cannot be read for sure. */
export function isoDate(value: string | undefined): string | undefined {
  const given = value?.trim();
  if (!given) return undefined;
  const iso =
    /^((?:19|20)\d\d)-(\d\d)-(\d\d)(?:[T\s]+(\d\d:\d\d(?::\d\d)?(?:\.\d+)?)\s*(Z|UTC|[+-]\d\d:?\d\d)?)?/i.exec(given);
  if (iso) {
    const [, year, month, day, time, zone] = iso;
    if (!realDay(Number(year), Number(month), Number(day))) return undefined;
    const offset =
      zone === undefined ? "" : /^(?:z|utc)$/i.test(zone) ? "Z" : zone.replace(/^([+-]\d\d):?(\d\d)$/, "$1:$2");
    return time ? `${year}-${month}-${day}T${time}${offset}` : `${year}-${month}-${day}`;
  }
  const compact =
    /^((?:19|20)\d\d)(\d\d)(\d\d)(?:$|T)/.exec(given) ?? /^((?:19|20)\d\d)\/(\d{1,2})\/(\d{1,2})/.exec(given);
  if (compact) return day(Number(compact[1]), Number(compact[2]), Number(compact[3]));
  const english = /(?:^|[\s,])(\p{L}{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)/u.exec(given);
  if (english) return day(Number(english[3]), monthOf(english[1] ?? ""), Number(english[2]));
  const british = /(?:^|[\s,])(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(\p{L}{3,9})\.?,?\s+((?:19|20)\d\d)/u.exec(
    given,
  );
  if (british) return day(Number(british[3]), monthOf(british[2] ?? ""), Number(british[1]));
  const asian = /((?:19|20)\d\d)\s*[年년.]\s*(\d{1,2})\s*[月월.]\s*(\d{1,2})/.exec(given);
  if (asian) return day(Number(asian[1]), Number(asian[2]), Number(asian[3]));
  return undefined;
}

function monthOf(name: string): number {
  return months.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

function day(year: number, month: number, date: number): string | undefined {
  return realDay(year, month, date)
    ? `${year}-${String(month).padStart(2, "0")}-${String(date).padStart(2, "0")}`
    : undefined;
}

function realDay(year: number, month: number, date: number): boolean {
  return month >= 1 && month <= 12 && date >= 1 && date <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
