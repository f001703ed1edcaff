import { type BigIntStats, lstatSync } from "node:fs";
import { basename } from "node:path";
import type { AssetType } from "../../model.ts";
import { stampOf } from "./stamp.ts";

/** A file that defines assets, as the walk finds it; nothing of it has been read. */
export interface Found {
  type: AssetType;
  /** As found. */
  path: string;
  real: string;
  root: number;
  /** The role it lies in. */
  role: string | null;
  /** What names it: folder of a skill, id of a role, path below its folder for the rest. */
  name: string;
  /** Of a skill's reference: the path of the skill's defining file. */
  skill?: string;
  stamp: string;
  bytes: number;
  modifiedAt: number;
  aliases: string[];
  /** Why it cannot be read. */
  fault?: string;
}

/** What a file's state says of it. */
export function foundFrom(
  place: Pick<Found, "type" | "path" | "real" | "root" | "role" | "name" | "skill">,
  stat: BigIntStats,
  fault: string | undefined,
): Found {
  return {
    ...place,
    stamp: fault === undefined ? stampOf(stat) : `fault:${fault}:${stampOf(stat)}`,
    bytes: Number(stat.size),
    modifiedAt: Number(stat.mtimeMs),
    aliases: [],
    ...(fault !== undefined && { fault }),
  };
}

/** A reference that a role lists and that lies outside its `references` folder; none where no file is. */
export function listedReference({
  path,
  name,
  role,
  root,
}: {
  path: string;
  name: string;
  role: string;
  root: number;
}): Found[] {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stat) return [];
  const fault = stat.isFile() ? undefined : `it is ${kindOf(stat)}, not a regular file`;
  const place = { type: "reference" as const, path, real: path, root, role, name: name === "" ? basename(path) : name };
  return [foundFrom(place, stat, fault)];
}

export function kindOf(stat: BigIntStats): string {
  if (stat.isSymbolicLink()) return "a link";
  if (stat.isDirectory()) return "a folder";
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}
