import { hintNames } from "./hints.ts";

/** Numbers about the whole page, made of the rows of its blocks; what the page type is judged by. */
export function pageFeatures(
  rows: readonly Float32Array[],
  lengths: readonly number[],
  names: readonly string[],
  groups: readonly Int32Array[],
): { names: string[]; values: number[] } {
  const out: { names: string[]; values: number[] } = { names: [], values: [] };
  const add = (name: string, value: number): void => {
    out.names.push(name);
    out.values.push(value);
  };
  const at = new Map(names.map((name, index) => [name, index]));
  const read = (row: Float32Array | undefined, name: string): number => row?.[at.get(name) ?? -1] ?? 0;
  const first = rows[0];
  for (const name of names) if (name.startsWith("page.")) add(name, read(first, name));
  const total = lengths.reduce((sum, length) => sum + length, 0) || 1;
  const shareOf = (test: (row: Float32Array) => boolean): number => {
    let sum = 0;
    rows.forEach((row, index) => {
      if (test(row)) sum += lengths[index] ?? 0;
    });
    return sum / total;
  };
  for (const hint of hintNames) {
    const place = at.get(`hint.${hint}`) ?? 0;
    add(
      `share.${hint}`,
      shareOf((row) => (row[place] ?? 99) < 6),
    );
  }
  for (const tag of [
    "main",
    "article",
    "nav",
    "header",
    "footer",
    "aside",
    "form",
    "table",
    "ul",
    "ol",
    "dl",
    "pre",
    "blockquote",
    "p",
    "button",
    "details",
  ]) {
    const place = at.get(`in.${tag}`) ?? 0;
    add(
      `share.in.${tag}`,
      shareOf((row) => (row[place] ?? 99) < 24),
    );
    add(`count.in.${tag}`, Math.log1p(rows.filter((row) => (row[place] ?? 99) < 24).length));
  }
  for (const name of [
    "own.price",
    "own.date",
    "own.copyright",
    "own.call",
    "own.ask",
    "own.related",
    "own.byline",
    "own.sentence",
    "own.question",
    "own.inData",
  ])
    add(`count.${name}`, Math.log1p(rows.filter((row) => read(row, name) > 0).length));
  add("count.long", Math.log1p(lengths.filter((length) => length > 200).length));
  add("count.middle", Math.log1p(lengths.filter((length) => length > 60 && length <= 200).length));
  add("count.short", Math.log1p(lengths.filter((length) => length <= 60).length));
  add("share.long", lengths.reduce((sum, length) => sum + (length > 200 ? length : 0), 0) / total);
  // The two largest families of records: how many, how long, with what in them.
  const families = new Map<
    number,
    {
      count: Set<number>;
      length: number;
      prices: Set<number>;
      dates: Set<number>;
      sentences: number;
      links: number;
      headings: Set<number>;
    }
  >();
  rows.forEach((row, index) => {
    const family = groups[index]?.[9] ?? -1;
    const record = groups[index]?.[8] ?? -1;
    if (family < 0) return;
    const held = families.get(family) ?? {
      count: new Set(),
      length: 0,
      prices: new Set(),
      dates: new Set(),
      sentences: 0,
      links: 0,
      headings: new Set(),
    };
    families.set(family, held);
    const length = lengths[index] ?? 0;
    held.count.add(record);
    held.length += length;
    if (read(row, "own.price") > 0) held.prices.add(record);
    if (read(row, "own.date") > 0) held.dates.add(record);
    if (read(row, "own.heading") > 0) held.headings.add(record);
    if (read(row, "own.sentence") > 0) held.sentences += length;
    held.links += length * read(row, "own.linkDensity");
  });
  const ranked = [...families.values()].sort((a, b) => b.length - a.length);
  for (const place of [0, 1]) {
    const held = ranked[place];
    const count = held?.count.size ?? 0;
    add(`family${place}.count`, Math.log1p(count));
    add(`family${place}.share`, (held?.length ?? 0) / total);
    add(`family${place}.each`, Math.log1p((held?.length ?? 0) / Math.max(1, count)));
    add(`family${place}.prices`, (held?.prices.size ?? 0) / Math.max(1, count));
    add(`family${place}.dates`, (held?.dates.size ?? 0) / Math.max(1, count));
    add(`family${place}.headings`, (held?.headings.size ?? 0) / Math.max(1, count));
    add(`family${place}.sentences`, held?.length ? held.sentences / held.length : 0);
    add(`family${place}.links`, held?.length ? held.links / held.length : 0);
  }
  const most = ranked.reduce((best, held) => Math.max(best, held.prices.size), 0);
  add("family.prices", Math.log1p(most));
  add("family.dates", Math.log1p(ranked.reduce((best, held) => Math.max(best, held.dates.size), 0)));
  return out;
}
