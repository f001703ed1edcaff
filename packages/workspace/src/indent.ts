/** The indent of a line in a text that was looked for, and of the line it was found at. */
export interface IndentPair {
  readonly wanted: string;
  readonly found: string;
}

/** Spaces and tabs at the start of a line. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Pairs of the lines that hold more than blanks. */
export function indentPairs(wanted: readonly string[], found: readonly string[]): readonly IndentPair[] {
  return wanted.flatMap((line, index) =>
    line.trim() === "" ? [] : [{ wanted: indentOf(line), found: indentOf(found[index] ?? "") }],
  );
}

/**
 * The indents for new lines that were written in the indents of the wanted text: that of a pair with the same wanted
 * indent, else one tab for k spaces (or k spaces for one tab) where that fits every pair, else the shift common to all
 * pairs where both sides use one character. `undefined` for a line that none fits.
 */
export function indentCarrier(pairs: readonly IndentPair[]): (indent: string) => string | undefined {
  const known = new Map<string, Set<string>>();
  for (const { wanted, found } of pairs) known.set(wanted, (known.get(wanted) ?? new Set()).add(found));
  const rules = [identity(pairs), unit(pairs), shift(pairs)].filter((rule) => rule !== undefined);
  return (indent) => {
    const [only, ...others] = known.get(indent) ?? [];
    if (only !== undefined && others.length === 0) return only;
    if (only !== undefined) return undefined;
    for (const rule of rules) {
      const carried = rule(indent);
      if (carried !== undefined) return carried;
    }
    return undefined;
  };
}

type Rule = (indent: string) => string | undefined;

function identity(pairs: readonly IndentPair[]): Rule | undefined {
  return pairs.every(({ wanted, found }) => wanted === found) ? (indent) => indent : undefined;
}

const spaces = /^ *$/;
const tabs = /^\t*$/;

function unit(pairs: readonly IndentPair[]): Rule | undefined {
  const telling = pairs.find(({ wanted, found }) => wanted !== "" && found !== "");
  if (!telling) return undefined;
  const toTabs = spaces.test(telling.wanted) && tabs.test(telling.found);
  const toSpaces = tabs.test(telling.wanted) && spaces.test(telling.found);
  if (!toTabs && !toSpaces) return undefined;
  const width = toTabs ? telling.wanted.length / telling.found.length : telling.found.length / telling.wanted.length;
  if (!Number.isInteger(width)) return undefined;
  const rule: Rule = toTabs
    ? (indent) => {
        if (!spaces.test(indent) || indent.length % width !== 0) return undefined;
        return "\t".repeat(indent.length / width);
      }
    : (indent) => (tabs.test(indent) ? " ".repeat(indent.length * width) : undefined);
  return pairs.every(({ wanted, found }) => rule(wanted) === found) ? rule : undefined;
}

function shift(pairs: readonly IndentPair[]): Rule | undefined {
  const [first] = pairs;
  if (!first) return undefined;
  const characters = new Set(pairs.flatMap(({ wanted, found }) => [...wanted, ...found]));
  const [character, ...others] = characters;
  const by = first.found.length - first.wanted.length;
  if (others.length > 0 || pairs.some(({ wanted, found }) => found.length - wanted.length !== by)) return undefined;
  return (indent) => {
    if ([...indent].some((one) => one !== character) || indent.length + by < 0) return undefined;
    return (character ?? " ").repeat(indent.length + by);
  };
}
