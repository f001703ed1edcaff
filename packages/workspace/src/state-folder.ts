import { dirname, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileSystem } from "./file-system.ts";
import { createFile } from "./small-file.ts";
import { cannotMake, isAbsent, systemCode } from "./system-error.ts";

/** Makes the folders of a workspace's state when something is first written; git ignores them. */
export async function ensureStateFolder(files: FileSystem, stateDir: string, inner: string): Promise<string> {
  const path = join(stateDir, inner);
  try {
    await makeFolder(files, path);
    const shared = dirname(stateDir);
    if (!stateDir.endsWith(join(".toolhaft", "workspace"))) return path;
    for (const folder of [shared, stateDir]) await refuseLink(files, folder);
    await ignoreAll(files, shared);
  } catch (error) {
    throw cannotMake(error, `the folder ${path}`, "stateDir");
  }
  return path;
}

async function makeFolder(files: FileSystem, path: string): Promise<void> {
  try {
    await files.mkdir(path, 0o700);
    return;
  } catch (error) {
    if (isAbsent(error) && dirname(path) !== path) {
      await makeFolder(files, dirname(path));
      return makeFolder(files, path);
    }
    if (systemCode(error) !== "EEXIST") throw error;
  }
  if ((await files.stat(path)).kind !== "directory") throw inTheWay(path);
}

/** A folder that somebody prepared must not lead the state elsewhere. */
async function refuseLink(files: FileSystem, folder: string): Promise<void> {
  if ((await files.lstat(folder)).kind !== "directory") throw inTheWay(folder);
}

function inTheWay(path: string): ToolError {
  return new ToolError("denied", `${path} is not a folder and in the way of the state of these tools`, {
    hint: "remove it",
  });
}

async function ignoreAll(files: FileSystem, folder: string): Promise<void> {
  try {
    await files.lstat(join(folder, ".gitignore"));
  } catch (error) {
    if (!isAbsent(error)) throw error;
    await createFile(files, join(folder, ".gitignore"), "*\n", false).catch((failure: unknown) => {
      if (systemCode(failure) !== "EEXIST") throw failure;
    });
  }
}
