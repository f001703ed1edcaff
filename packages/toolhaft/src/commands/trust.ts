import { join } from "node:path";
import { configName, readConfig, wideningKeys } from "../config/load.ts";
import { readTrust } from "../config/trust.ts";
import { exitCodes, usageFault } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Takes the folder's config as it is now for the user's own word. */
export function trust(io: Io): number {
  const found = readConfig(join(io.cwd, configName));
  if (found === undefined) throw usageFault(`there is no ${configName} in ${io.cwd}`);
  readTrust(io).set(found.path, found.hash);
  const keys = wideningKeys(found, io.cwd);
  const says = keys.length === 0 ? "it only narrows" : `it sets ${keys.join(", ")}`;
  io.out(`trusted ${found.path} (${says}), SHA-256 ${found.hash}; any change of the file takes this back\n`);
  return exitCodes.done;
}

/** Takes it back. */
export function untrust(io: Io): number {
  const found = readConfig(join(io.cwd, configName));
  if (found === undefined) throw usageFault(`there is no ${configName} in ${io.cwd}`);
  io.out(
    readTrust(io).remove(found.path) ? `${found.path} is not trusted any more\n` : `${found.path} was not trusted\n`,
  );
  return exitCodes.done;
}
