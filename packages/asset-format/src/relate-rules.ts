import { type Step, separator, stepsOf } from "./rule-pattern.ts";
import type { ToolRule } from "./tool-rules.ts";

/** How the calls of one rule stand to those of another: `covers` when the first matches all of the second's and more. */
export type RuleRelation = "equal" | "covers" | "covered" | "overlaps" | "disjoint";

/** Pairs of state sets that are looked at; only a pattern made to be costly has more. */
const mostPairs = 50_000;

/**
 * Decides how two rules relate by walking both patterns together, so the answer is never a guess.
 *
 * @returns with `witness` a concrete call that both match, as `Tool(spec)`
 * @throws RangeError when two patterns made to be costly would need more than 50,000 steps
 */
export function relateRules(a: ToolRule, b: ToolRule): { relation: RuleRelation; witness?: string } {
  const left = stepsOf(a);
  const right = stepsOf(b);
  const letters = lettersOf([...left, ...right]);
  const start: Pair = { left: startOf(left), right: startOf(right), word: "" };
  const seen = new Set([keyOf(start)]);
  const pending = [start];
  let witness: string | undefined;
  let onlyLeft = false;
  let onlyRight = false;
  for (let at = 0; at < pending.length; at++) {
    const pair = pending[at];
    if (!pair) break;
    const [inLeft, inRight] = [accepts(left, pair.left), accepts(right, pair.right)];
    if (inLeft && inRight) witness ??= pair.word;
    onlyLeft ||= inLeft && !inRight;
    onlyRight ||= inRight && !inLeft;
    if (witness !== undefined && onlyLeft && onlyRight) break;
    for (const letter of letters) {
      const next: Pair = {
        left: step(left, pair.left, letter),
        right: step(right, pair.right, letter),
        word: pair.word + letter,
      };
      // From any live state an end can be reached, so a side that died decides without walking on.
      if (next.left.length === 0 || next.right.length === 0) {
        onlyLeft ||= next.left.length > 0;
        onlyRight ||= next.right.length > 0;
        continue;
      }
      const key = keyOf(next);
      if (seen.has(key)) continue;
      if (seen.size >= mostPairs) throw new RangeError(`the rules ${a.text} and ${b.text} are too costly to compare`);
      seen.add(key);
      pending.push(next);
    }
  }
  if (witness === undefined) return { relation: "disjoint" };
  const relation = onlyLeft ? (onlyRight ? "overlaps" : "covers") : onlyRight ? "covered" : "equal";
  return { relation, witness: callOf(witness, a, b) };
}

/** Whether a rule matches a concrete call. */
export function matchesRule(rule: ToolRule, tool: string, spec: string): boolean {
  const patterns = stepsOf(rule);
  let states = startOf(patterns);
  for (const letter of [...tool.toLowerCase(), separator, ...spec]) {
    states = step(patterns, states, letter);
    if (states.length === 0) return false;
  }
  return accepts(patterns, states);
}

interface Pair {
  left: readonly number[];
  right: readonly number[];
  word: string;
}

/** A state is the index of an alternative and of a step in it, as one number. */
const stride = 1_024;

function startOf(patterns: readonly Step[][]): number[] {
  return close(
    patterns,
    patterns.map((_, index) => index * stride),
  );
}

/** Any text may be empty: the step behind it is reached without a letter. What a free wildcard overtook is dropped. */
function close(patterns: readonly Step[][], states: readonly number[]): number[] {
  const closed = new Set<number>();
  const pending = [...states];
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (closed.has(state)) continue;
    closed.add(state);
    const at = patterns[Math.floor(state / stride)]?.[state % stride];
    if (typeof at === "object") pending.push(state + 1);
  }
  const latest = new Map<number, number>();
  for (const state of closed) {
    const at = patterns[Math.floor(state / stride)]?.[state % stride];
    const alternative = Math.floor(state / stride);
    if (typeof at === "object" && at.any === "text")
      latest.set(alternative, Math.max(latest.get(alternative) ?? -1, state));
  }
  return [...closed].filter((state) => state >= (latest.get(Math.floor(state / stride)) ?? -1)).sort((x, y) => x - y);
}

function step(patterns: readonly Step[][], states: readonly number[], letter: string): number[] {
  const next: number[] = [];
  for (const state of states) {
    const at = patterns[Math.floor(state / stride)]?.[state % stride];
    if (at === undefined) continue;
    if (typeof at === "string") {
      if (at === letter) next.push(state + 1);
    } else if (letter !== separator && (at.any === "text" || letter !== "/")) next.push(state);
  }
  return next.length === 0 ? next : close(patterns, next);
}

function accepts(patterns: readonly Step[][], states: readonly number[]): boolean {
  return states.some((state) => patterns[Math.floor(state / stride)]?.length === state % stride);
}

function keyOf({ left, right }: Pair): string {
  return `${left.join()}|${right.join()}`;
}

/** All letters that either pattern tells apart, and one that neither does. */
function lettersOf(patterns: readonly Step[][]): string[] {
  const letters = new Set<string>(patterns.flat().filter((step) => typeof step === "string"));
  const other = [..."xyzabcdefghijklmnopqrstuvw0123456789"].find((letter) => !letters.has(letter)) ?? "\u{e000}";
  return [...letters, ...(letters.has("/") ? [] : ["/"]), other].sort(wordsFirst);
}

/** The witness is the shortest; among those a word reads better than signs. */
function wordsFirst(a: string, b: string): number {
  return Number(a === "/") - Number(b === "/") || (a < b ? -1 : 1);
}

/** In the spelling of whichever rule names the tool without wildcards. */
function callOf(word: string, a: ToolRule, b: ToolRule): string {
  const [name = "", spec = ""] = word.split(separator);
  const spelled =
    [a, b].map((rule) => rule.text.split("(", 1)[0] ?? "").find((text) => text.toLowerCase() === name) ?? name;
  return spec === "" ? spelled : `${spelled}(${spec})`;
}
