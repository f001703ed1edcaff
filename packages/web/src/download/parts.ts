import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, ToolError } from "@toolhaft/core";
import { z } from "zod";

const keptMs = 24 * 60 * 60 * 1000;
const keptBytes = 1024 * 1024 * 1024;

const noteSchema = z.object({
  url: z.string(),
  validator: z.string(),
  finalUrl: z.string(),
  contentType: z.string(),
  at: z.number(),
});

/** What is known of a part beside its bytes. */
export type PartNote = z.infer<typeof noteSchema>;

/** Bytes of a download that has not come to its end. */
export interface Part {
  readonly path: string;
  /** Bytes that are there, and what they belong to; undefined when nothing can be gone on with. */
  resumable(): Promise<{ bytes: number; note: PartNote } | undefined>;
  /** Opens it for more bytes, from the start or after those that are there. */
  open(from: "start" | "end"): Promise<FileHandle>;
  /** Writes down what the bytes belong to, so that another call can go on. */
  keep(note: PartNote): Promise<void>;
  read(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

const isAbsent = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

async function ownFolder(directory: string): Promise<string> {
  const folder = join(directory, ".toolhaft", "downloads");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const path of [join(directory, ".toolhaft"), folder]) {
    // A folder that somebody prepared must not lead the parts elsewhere.
    if (!(await lstat(path)).isDirectory())
      throw new ToolError("denied", `${path} is not a folder and in the way of downloads`, { hint: "remove it" });
  }
  await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  return folder;
}

/** Removes what is older than a day and, oldest first, what is over a gibibyte. */
async function sweep(folder: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".part"));
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      ...(await stat(join(folder, name)).then(
        ({ mtimeMs, size }) => ({ mtimeMs, size }),
        () => ({ mtimeMs: 0, size: 0 }),
      )),
    })),
  );
  let total = 0;
  for (const { name, mtimeMs, size } of found.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    total += size;
    if (now - mtimeMs <= keptMs && total <= keptBytes) continue;
    await rm(join(folder, name), { force: true });
    await rm(join(folder, name.replace(/part$/, "json")), { force: true });
  }
}

/** The part of one URL and target. */
export async function partOf(directory: string, url: string, target: string, clock: Clock): Promise<Part> {
  const folder = await ownFolder(directory);
  await sweep(folder, clock.now());
  const key = createHash("sha256").update(`${url}\n${target}`).digest("hex").slice(0, 32);
  const path = join(folder, `${key}.part`);
  const notePath = join(folder, `${key}.json`);

  async function readNote(): Promise<PartNote | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(notePath, "utf8"));
    } catch (error) {
      if (isAbsent(error) || error instanceof SyntaxError) return undefined;
      throw error;
    }
    const parsed = noteSchema.safeParse(value);
    return parsed.success && parsed.data.url === url && clock.now() - parsed.data.at <= keptMs
      ? parsed.data
      : undefined;
  }

  return {
    path,
    async resumable() {
      const note = await readNote();
      if (note === undefined) return undefined;
      const size = await stat(path).then(
        (found) => found.size,
        (error: unknown) => {
          if (isAbsent(error)) return 0;
          throw error;
        },
      );
      return size > 0 ? { bytes: size, note } : undefined;
    },
    async open(from) {
      if (from === "start") {
        await rm(path, { force: true });
        return open(path, "wx", 0o600);
      }
      return open(path, "a", 0o600);
    },
    keep: (note) => writeFile(notePath, JSON.stringify(note), { mode: 0o600 }),
    read: () => createReadStream(path, { highWaterMark: 1024 * 1024 }),
    async discard() {
      await rm(path, { force: true });
      await rm(notePath, { force: true });
    },
  };
}
