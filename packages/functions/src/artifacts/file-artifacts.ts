import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, unavailable } from "../system-error.ts";
import { type ArtifactInfo, type ArtifactStore, contentState } from "./artifact.ts";
import { fileKey } from "./key.ts";

/** Ending of the file that keeps a name which the key does not tell. */
const nameEnding = ".name";
const endings = { text: ".md", payload: ".json" } as const;

/** Artifacts as files below a folder, one folder a session: texts `.md`, payloads `.json`. */
export function fileArtifacts(directory: string): ArtifactStore {
  const folderOf = (session: string) => join(directory, fileKey(session));
  const pathOf = (session: string, name: string, ending: string) => join(folderOf(session), fileKey(name) + ending);

  const found = async (session: string, name: string): Promise<{ path: string; text: string } | undefined> => {
    for (const ending of [endings.text, endings.payload]) {
      const path = pathOf(session, name, ending);
      const text = await readIfThere(path);
      if (text !== undefined) return { path, text };
    }
    return undefined;
  };

  const infoOf = async (session: string, name: string): Promise<ArtifactInfo> => {
    const file = await found(session, name);
    if (file === undefined) {
      return { name, state: "missing", path: pathOf(session, name, endings.text), bytes: 0, modifiedAt: 0 };
    }
    const { size, mtimeMs } = await stat(file.path);
    return { name, state: contentState(file.text), path: file.path, bytes: size, modifiedAt: Math.floor(mtimeMs) };
  };

  return {
    stat: infoOf,
    read: async (session, name) => (await found(session, name))?.text,
    async write(session, name, text, kind = "text") {
      const folder = folderOf(session);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const composed = name.normalize("NFC");
        // The name first: a file whose name nobody knows would be shown under its key.
        if (fileKey(name) !== composed) await replace(pathOf(session, name, nameEnding), composed);
        await replace(pathOf(session, name, endings[kind]), text);
        await rm(pathOf(session, name, endings[kind === "text" ? "payload" : "text"]), { force: true });
      } catch (error) {
        throw unavailable(error, `artifact "${name}" cannot be written`);
      }
      return infoOf(session, name);
    },
    async list(session) {
      const folder = folderOf(session);
      const files = await entries(folder);
      const names = new Set<string>();
      for (const file of files) {
        const ending = Object.values(endings).find((one) => file.endsWith(one));
        if (ending === undefined) continue;
        const key = file.slice(0, -ending.length);
        const kept = key.includes("~") ? await readIfThere(join(folder, key + nameEnding)) : undefined;
        names.add(kept ?? key);
      }
      const infos = await Promise.all([...names].sort().map((name) => infoOf(session, name)));
      return infos.filter(({ state }) => state !== "missing");
    },
  };
}

/** A reader sees the old text or the new one. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unavailable(error, `${path} cannot be read`);
  }
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw unavailable(error, `${folder} cannot be read`);
  }
}
