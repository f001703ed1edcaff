import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandFault, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Where the user's own settings lie; never inside a folder that is worked in. */
export function userFolder({ env }: Pick<Io, "env">): string {
  const base = env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config");
  return join(base, "toolhaft");
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Hashes of the configs that this user has looked at, by their real paths. */
export interface TrustList {
  isTrusted(path: string, hash: string): boolean;
  set(path: string, hash: string): void;
  /** Whether there was anything to take back. */
  remove(path: string): boolean;
}

export function readTrust(io: Pick<Io, "env">): TrustList {
  const file = join(userFolder(io), "trust.json");
  const known = load(file);
  const save = () => {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const next = `${file}.${process.pid}`;
      writeFileSync(next, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`, { mode: 0o600 });
      renameSync(next, file);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandFault(exitCodes.unavailable, `cannot write ${file}: ${reason}`);
    }
  };
  return {
    isTrusted: (path, hash) => known.get(path) === hash,
    set(path, hash) {
      known.set(path, hash);
      save();
    },
    remove(path) {
      if (!known.delete(path)) return false;
      save();
      return true;
    },
  };
}

/** A list that cannot be read trusts nothing. */
function load(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Map();
    throw new CommandFault(exitCodes.unavailable, `cannot read ${file}: ${String(error)}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch (error) {
    throw new CommandFault(
      exitCodes.unavailable,
      `${file} is no JSON any more (${error instanceof Error ? error.message : String(error)}): delete it and trust your folders again`,
    );
  }
}
