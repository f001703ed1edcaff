import { createHash } from "node:crypto";
import { fitName } from "@toolhaft/core";

const maxLength = 64;

/** A name that every host takes: lower case, anything odd as `_`, no digit in front. */
export function plainName(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9_]/gu, "_");
  return /^[a-z]/.test(plain) ? plain : `t_${plain}`;
}

/**
 * Our name for each of a server's names. Two that would meet carry a hash of their own name, both of them: which came
 * first must not matter.
 */
export function fitNames(prefix: string, names: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map([...new Set(names)].map((name) => [name, fitName(prefix, plainName(name), maxLength)]));
  const count = new Map<string, number>();
  for (const fitted of plain.values()) count.set(fitted, (count.get(fitted) ?? 0) + 1);
  return new Map(
    [...plain].map(([name, fitted]) => [name, (count.get(fitted) ?? 0) > 1 ? withHash(prefix, name) : fitted]),
  );
}

function withHash(prefix: string, name: string): string {
  const hash = BigInt(`0x${createHash("sha256").update(name).digest("hex").slice(0, 12)}`).toString(36);
  return `${`${prefix}${plainName(name)}`.slice(0, maxLength - 11)}_${hash.padStart(10, "0")}`;
}
