import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { isMissing, listFolder } from "../folders.ts";
import type { JsonRecord } from "../json-line.ts";
import { nonEmpty, object } from "../shapes.ts";
import type { Changes, RecordedFileChange } from "../store.ts";
import { blobsOf, changedBetween, holdsTree, type TreeChange } from "./git.ts";
import type { SessionRecord } from "./records.ts";

interface Snapshots {
  project: string | undefined;
  /** The folder that the paths in a snapshot start from. */
  root: string | undefined;
  first: string | undefined;
  last: string | undefined;
}

/**
 * What changed between the first and the last snapshot that the steps of a session name, at or before a message; undefined
 * when they name none.
 *
 * @throws ToolError `unavailable` when the snapshots are named but cannot be read: which of git and repository is missing
 */
export async function snapshotChanges(
  data: string,
  records: AsyncIterable<SessionRecord>,
  upTo: string | undefined,
  signal: AbortSignal,
): Promise<Changes | undefined> {
  const { project, root, first, last } = await snapshotsIn(records, upTo);
  if (first === undefined || last === undefined) return undefined;
  const base = { basis: "snapshots", notes: [] } as const;
  if (first === last) return { ...base, changes: [] };
  const repository = await repositoryWith(join(data, "snapshot", project ?? ""), [first, last], signal);
  const changed = await changedBetween(repository, first, last, signal);
  const blobs = await blobsOf(
    repository,
    changed.flatMap(({ before, after }) => [before, after]),
    signal,
  );
  const side = (id: string | null) => (id === null ? null : blobs.get(id));
  return { ...base, changes: changed.map((change) => recorded(change, root, side)) };
}

function recorded(
  { path, from, before, after }: TreeChange,
  root: string | undefined,
  side: (id: string | null) => Uint8Array | null | undefined,
): RecordedFileChange {
  const at = (name: string) => (root === undefined ? name : join(root, name));
  return {
    messageId: null,
    path: at(path),
    from: from === null ? null : at(from),
    kind: before === null ? "create" : after === null ? "delete" : from === null ? "modify" : "move",
    before: side(before),
    after: side(after),
    patch: null,
    additions: null,
    deletions: null,
  };
}

async function snapshotsIn(records: AsyncIterable<SessionRecord>, upTo: string | undefined): Promise<Snapshots> {
  const found: Snapshots = { project: undefined, root: undefined, first: undefined, last: undefined };
  for await (const record of records) {
    if (record.type === "session") {
      found.project = nonEmpty(record.session.project_id) ?? nonEmpty(record.session.projectID);
      found.root = nonEmpty(record.session.directory);
    }
    if (record.type !== "message" || record.reverted) continue;
    found.root = nonEmpty(object(record.message.path)?.root) ?? found.root;
    for (const id of record.parts.flatMap(snapshotOf)) {
      found.first ??= id;
      found.last = id;
    }
    if (record.message.id === upTo) break;
  }
  return found;
}

function snapshotOf(part: JsonRecord): readonly string[] {
  const id = part.type === "step-start" || part.type === "step-finish" ? nonEmpty(part.snapshot) : undefined;
  return id !== undefined && /^[0-9a-f]{40,64}$/.test(id) ? [id] : [];
}

/** A project has one repository, or one for each of its folders. */
async function repositoryWith(folder: string, trees: readonly string[], signal: AbortSignal): Promise<string> {
  const candidates = [folder];
  for (const listed of await listFolder(folder)) {
    if ("unreadable" in listed) throw missing(`${listed.unreadable} cannot be read: ${listed.cause}`);
    if (listed.entry.isDirectory()) candidates.push(listed.path);
  }
  for (const repository of candidates) {
    try {
      if (await holdsTree(repository, trees, signal)) return repository;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  throw missing(`no repository below ${folder} holds the snapshots of this session`);
}

function missing(message: string): ToolError {
  return new ToolError("unavailable", message, { hint: "read the edits with session_read" });
}
