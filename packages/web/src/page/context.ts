import { groupNames } from "./features.ts";

const steps = [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5];

export const contextNames: readonly string[] = [
  "p",
  ...steps.map((step) => (step < 0 ? `p.prev${-step}` : `p.next${step}`)),
  ...groupNames.flatMap((name) => [`p.${name}`, `p.${name}.rest`]),
  "p.page",
  "p.best",
  "p.before",
  "p.after",
  "p.near",
];

/**
 * How the blocks around were judged: neighbours, containers, blocks of the same shape, blocks under the same heading.
 * `chances` are first judgements between 0 and 1, `weights` text lengths.
 */
export function contextFeatures(
  chances: ArrayLike<number>,
  weights: readonly number[],
  groups: readonly Int32Array[],
): Float32Array[] {
  const count = chances.length;
  const sums = groupNames.map(() => new Map<number, { chance: number; weight: number }>());
  let pageChance = 0;
  let pageWeight = 0;
  let best = 0;
  for (let index = 0; index < count; index += 1) {
    const chance = chances[index] ?? 0;
    const weight = (weights[index] ?? 0) + 1;
    pageChance += chance * weight;
    pageWeight += weight;
    if (weight > 40 && chance > best) best = chance;
    groupNames.forEach((_, at) => {
      const group = groups[index]?.[at] ?? -1;
      const held = sums[at]?.get(group) ?? { chance: 0, weight: 0 };
      held.chance += chance * weight;
      held.weight += weight;
      sums[at]?.set(group, held);
    });
  }
  let seen = 0;
  const rows: Float32Array[] = [];
  for (let index = 0; index < count; index += 1) {
    const chance = chances[index] ?? 0;
    const weight = (weights[index] ?? 0) + 1;
    const row = new Float32Array(contextNames.length);
    let at = 0;
    row[at++] = chance;
    for (const step of steps) row[at++] = chances[index + step] ?? -0.1;
    for (let place = 0; place < groupNames.length; place += 1) {
      const held = sums[place]?.get(groups[index]?.[place] ?? -1);
      const rest = held ? held.weight - weight : 0;
      row[at++] = held && held.weight > 0 ? held.chance / held.weight : -0.1;
      row[at++] = held && rest > 0 ? (held.chance - chance * weight) / rest : -0.1;
    }
    row[at++] = pageChance / pageWeight;
    row[at++] = best;
    row[at++] = seen / Math.max(1, pageChance);
    row[at++] = (pageChance - seen - chance * weight) / Math.max(1, pageChance);
    let near = 0;
    let nearWeight = 0;
    for (let other = Math.max(0, index - 12); other <= Math.min(count - 1, index + 12); other += 1) {
      const share = ((weights[other] ?? 0) + 1) / (1 + Math.abs(other - index));
      near += share * (chances[other] ?? 0);
      nearWeight += share;
    }
    row[at++] = near / nearWeight;
    seen += chance * weight;
    rows.push(row);
  }
  return rows;
}
