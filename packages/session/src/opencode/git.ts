import { finished } from "node:stream/promises";
import { ToolError } from "@toolhaft/core";
import { childEnvironment, createProcessHost } from "@toolhaft/process";

/** A larger file is named, and its texts are left out. */
const mostBlobBytes = 4 * 1024 * 1024;
const mostOutputBytes = 64 * 1024 * 1024;

export interface TreeChange {
  path: string;
  from: string | null;
  /** Blob ids; null for no file. */
  before: string | null;
  after: string | null;
}

/** Files that differ between two trees of a repository; nothing in it is touched. */
export async function changedBetween(
  repository: string,
  before: string,
  after: string,
  signal: AbortSignal,
): Promise<readonly TreeChange[]> {
  const args = ["diff-tree", "-r", "-z", "-M", "--raw", "--full-index", "--no-commit-id", before, after];
  const fields = (await printed(repository, args, "", signal)).toString("utf8").split("\0");
  const changes: TreeChange[] = [];
  for (let at = 0; at < fields.length; ) {
    const head = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(fields[at] ?? "");
    if (head === null) break;
    const [, oldMode, newMode, oldId = "", newId = "", status] = head;
    const moved = status === "R" || status === "C";
    const path = fields[at + (moved ? 2 : 1)] ?? "";
    // A repository within the repository is no file.
    if (oldMode !== "160000" && newMode !== "160000") {
      changes.push({
        path,
        from: status === "R" ? (fields[at + 1] ?? null) : null,
        before: status === "A" || status === "C" ? null : oldId,
        after: status === "D" ? null : newId,
      });
    }
    at += moved ? 3 : 2;
  }
  return changes;
}

/** The bytes of blobs by their ids; those that are too large are left out. */
export async function blobsOf(
  repository: string,
  ids: readonly (string | null)[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const asked = [...new Set(ids.filter((id) => id !== null))];
  if (asked.length === 0) return new Map();
  const sizes = await printed(repository, ["cat-file", "--batch-check"], `${asked.join("\n")}\n`, signal);
  const wanted = sizes
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const [id, kind, size] = line.split(" ");
      return id !== undefined && kind === "blob" && Number(size) <= mostBlobBytes ? [id] : [];
    });
  const bytes = await printed(repository, ["cat-file", "--batch"], wanted.map((id) => `${id}\n`).join(""), signal);
  const blobs = new Map<string, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const [id, , size] = bytes.toString("latin1", at, end).split(" ");
    if (end === -1 || id === undefined || size === undefined) break;
    const from = end + 1;
    blobs.set(id, bytes.subarray(from, from + Number(size)));
    at = from + Number(size) + 1;
  }
  return blobs;
}

/** Whether a folder is a repository that holds all of some trees. */
export async function holdsTree(repository: string, trees: readonly string[], signal: AbortSignal): Promise<boolean> {
  const { code, out } = await git(repository, ["cat-file", "--batch-check"], `${trees.join("\n")}\n`, signal);
  if (code !== 0) return false;
  const kinds = out.toString("utf8").trim().split("\n");
  return kinds.length === trees.length && kinds.every((line) => / (tree|commit) \d+$/.test(line));
}

async function printed(
  repository: string,
  args: readonly string[],
  input: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const { code, out, said } = await git(repository, args, input, signal);
  if (code === 0) return out;
  throw new ToolError("unavailable", `git ${args[0]} failed in ${repository}: ${said.trim().slice(0, 300)}`, {
    hint: "read the edits with session_read",
  });
}

async function git(
  repository: string,
  args: readonly string[],
  input: string,
  signal: AbortSignal,
): Promise<{ code: number | null; out: Buffer; said: string }> {
  signal.throwIfAborted();
  await using host = createProcessHost();
  const out: Uint8Array[] = [];
  const said: Uint8Array[] = [];
  let bytes = 0;
  const child = await host
    .start({
      command: "git",
      args: ["--no-pager", "--git-dir", repository, ...args],
      cwd: process.cwd(),
      env: childEnvironment({ set: { GIT_OPTIONAL_LOCKS: "0", GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" } }),
      stdout: "pipe",
      stderr: "pipe",
      onStdout(chunk) {
        bytes += chunk.length;
        if (bytes <= mostOutputBytes) out.push(chunk);
        else void child.stop();
      },
      onStderr: (chunk) => void said.push(chunk),
    })
    .catch((error: unknown) => {
      throw new ToolError("unavailable", "git is needed to read the snapshots of opencode, and does not start", {
        hint: "install git, or read the edits with session_read",
        cause: error,
      });
    });
  const stop = () => void child.stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    child.stdin?.end(input);
    const ended = child.stdout === undefined ? undefined : finished(child.stdout).catch(() => undefined);
    const { code } = await child.exited;
    await ended;
    signal.throwIfAborted();
    if (bytes > mostOutputBytes) throw new ToolError("too_large", `git ${args[0]} printed more than 64 MiB`);
    return { code, out: Buffer.concat(out), said: Buffer.concat(said).toString("utf8") };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
