import { analyse, analyseQuery } from "@toolhaft/text";

/** How a part's text is judged against a query. */
export interface Matcher {
  /** Terms for the full-text index; empty when nothing in it is a word. */
  terms: readonly string[];
  /** Phrases and literals that must stand in the text as written. */
  exact: readonly string[];
  caseSensitive: boolean;
  /** Secrets are shown as what they are. */
  redact: boolean;
  /** Whether a text holds every phrase and, in a case-sensitive search, every word as written. */
  fits(text: string): boolean;
  /** Code point ranges of what was looked for, in order; at most `limit`. */
  marks(text: string, limit: number): [number, number][];
}

const mostWords = 64;

/** `"…"` is looked for as written; unbalanced quotes are text. */
export function matcherOf(
  query: string,
  options: { match: "words" | "literal"; caseSensitive: boolean; redact?: boolean },
): Matcher {
  const quoted =
    options.match === "literal" ? [query] : [...query.matchAll(/"([^"]+)"/g)].flatMap(([, phrase]) => phrase ?? []);
  const exact = quoted.map((phrase) => (phrase.trim() === "" ? phrase : phrase)).filter((phrase) => phrase !== "");
  const words = query
    .split(/[\s"]+/)
    .filter((word) => word !== "")
    .slice(0, mostWords);
  const { terms } = analyseQuery(words.join(" "));
  const { caseSensitive } = options;
  const literal = options.match === "literal";
  const needles = literal ? exact : caseSensitive ? [...new Set([...exact, ...words])] : exact;
  return {
    terms,
    exact,
    caseSensitive,
    redact: options.redact ?? false,
    fits: (text) => needles.every((needle) => holds(text, needle, caseSensitive)),
    marks(text, limit) {
      const found = (literal ? exact : [...exact, ...words]).flatMap((needle) =>
        occurrences(text, needle, caseSensitive, limit),
      );
      if (found.length > 0) return merged(found).slice(0, limit);
      return literal ? [] : wordMarks(text, new Set(terms), limit);
    },
  };
}

const ascii = /^[\0-\x7f]*$/;

/** Lower case that keeps a map to the code points it came from: folding may make a letter longer (`İ`) . */
interface Folded {
  text: string;
  /** Code point index in the original of each UTF-16 unit. */
  from: Uint32Array;
}

export function fold(text: string, caseSensitive: boolean): Folded {
  let folded = "";
  const from: number[] = [];
  let point = 0;
  for (const character of text) {
    const lower = caseSensitive ? character : character.toLowerCase().normalize("NFKC");
    for (let unit = 0; unit < lower.length; unit += 1) from.push(point);
    folded += lower;
    point += 1;
  }
  from.push(point);
  return { text: folded, from: Uint32Array.from(from) };
}

function holds(text: string, needle: string, caseSensitive: boolean): boolean {
  if (caseSensitive) return text.includes(needle);
  return foldedText(text).includes(foldedText(needle));
}

/** The folded text alone, without its map. */
function foldedText(text: string): string {
  return ascii.test(text) ? text.toLowerCase() : fold(text, false).text;
}

function occurrences(text: string, needle: string, caseSensitive: boolean, limit: number): [number, number][] {
  if (!holds(text, needle, caseSensitive)) return [];
  const folded = fold(text, caseSensitive);
  const wanted = fold(needle, caseSensitive).text;
  if (wanted === "") return [];
  const found: [number, number][] = [];
  for (
    let at = folded.text.indexOf(wanted);
    at !== -1 && found.length < limit;
    at = folded.text.indexOf(wanted, at + wanted.length)
  ) {
    found.push([folded.from[at] ?? 0, (folded.from[at + wanted.length - 1] ?? 0) + 1]);
  }
  return found;
}

/** Words whose stems are among the terms: what the index found need not stand in the text as typed. */
function wordMarks(text: string, terms: ReadonlySet<string>, limit: number): [number, number][] {
  const found: [number, number][] = [];
  let point = 0;
  let unit = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    point += [...text.slice(unit, match.index)].length;
    const length = [...match[0]].length;
    if (analyse(match[0]).some((term) => terms.has(term))) found.push([point, point + length]);
    point += length;
    unit = match.index + match[0].length;
    if (found.length >= limit) break;
  }
  return found;
}

function merged(ranges: readonly [number, number][]): [number, number][] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const out: [number, number][] = [];
  for (const [start, end] of sorted) {
    const last = out.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

const excerptPoints = 160;

/** About 160 code points around the first mark, on one line, with the marks moved along. */
export function excerptAround(
  text: string,
  marks: readonly [number, number][],
): { excerpt: string; marks: [number, number][] } {
  const points = [...text];
  const [first] = marks;
  const centre = first === undefined ? 0 : Math.floor((first[0] + first[1]) / 2);
  const start = Math.max(0, Math.min(centre - excerptPoints / 2, points.length - excerptPoints));
  const end = Math.min(points.length, start + excerptPoints);
  const head = start > 0 ? "…" : "";
  const tail = end < points.length ? "…" : "";
  const body = points
    .slice(start, end)
    .map((point) => (/\s/.test(point) ? " " : point))
    .join("");
  const shift = head.length - start;
  return {
    excerpt: head + body + tail,
    marks: marks
      .filter(([from, to]) => from >= start && to <= end)
      .map(([from, to]): [number, number] => [from + shift, to + shift]),
  };
}
