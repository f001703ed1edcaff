import type { Database } from "@toolhaft/sqlite";
import { activeMsOf } from "../recording.ts";
import { markCopies } from "./copies.ts";
import { idOf } from "./read-messages.ts";
import { type TreeNode, treeOf } from "./tree.ts";

const titleLength = 80;

interface MessageRow {
  row: number;
  key: string;
  kind: string;
  at: string | null;
  model: string | null;
  offset: number;
  branch: string;
}

/**
 * Works out what no single record tells: branches, reading order, what was inherited, title, times and counts. Done once
 * per session after its new lines are in, inside the same write.
 */
export function settleSession(db: Database, session: number, file: { path: string; mtime: string }): void {
  db.run(
    "DELETE FROM problems WHERE session = ? AND code = 'broken_parent' AND EXISTS (SELECT 1 FROM nodes WHERE session = ?)",
    [session, session],
  );
  placeOnBranches(db, session, file.path);
  markInherited(db, session);
  numberMessages(db, session);
  markPoint(db, session);
  summarise(db, session, file.mtime);
  markCopies(db, session);
}

function placeOnBranches(db: Database, session: number, path: string): void {
  const nodes = db.all<TreeNode>("SELECT id, parent, logical, message FROM nodes WHERE session = ? ORDER BY n", [
    session,
  ]);
  if (nodes.length === 0) return;
  const tree = treeOf(nodes);
  db.run("UPDATE messages SET branch = 'main' WHERE session = ? AND branch <> 'main'", [session]);
  for (const [message, branch] of tree.branches) {
    if (branch !== "main") db.run("UPDATE messages SET branch = ? WHERE row = ?", [branch, message]);
  }
  for (const [message, parent] of tree.parents) {
    if (parent !== null) {
      db.run("UPDATE messages SET parent = (SELECT key FROM messages WHERE row = ?) WHERE row = ? AND parent IS NULL", [
        parent,
        message,
      ]);
    }
  }
  const [first] = tree.broken;
  if (first === undefined) return;
  const place = db.get<{ offset: number; line: number }>(
    "SELECT offset, 0 AS line FROM messages WHERE row = (SELECT message FROM nodes WHERE session = ? AND n = ?)",
    [session, first],
  );
  db.run("INSERT INTO problems(session, code, count, file, line, offset) VALUES (?, 'broken_parent', ?, ?, ?, ?)", [
    session,
    tree.broken.length,
    path,
    place?.line ?? 0,
    place?.offset ?? 0,
  ]);
}

/** Of a replay everything before the session's own first turn belongs to the parent. */
function markInherited(db: Database, session: number): void {
  const state = db.get<{ replay: number; own_from: number | null }>(
    "SELECT replay, own_from FROM sessions WHERE row = ?",
    [session],
  );
  if (state === undefined || state.replay === 0) return;
  db.run("UPDATE messages SET inherited = (offset < coalesce(?, 9007199254740991)) WHERE session = ?", [
    state.own_from,
    session,
  ]);
}

/** A host that names the parent alone: the point is the last message that the session has of it. */
function markPoint(db: Database, session: number): void {
  const last = db.get<{ idx: number; key: string }>(
    "SELECT idx, key FROM messages WHERE session = ? AND inherited = 1 AND branch = 'main' ORDER BY idx DESC LIMIT 1",
    [session],
  );
  if (last === undefined) return;
  db.run("UPDATE sessions SET parent_at = ? WHERE row = ? AND replay = 1 AND parent_kind = 'fork'", [
    idOf(last),
    session,
  ]);
}

/** The main path is read as 0, 1, 2 …; what lies beside it goes on from there, so that every number names one message. */
function numberMessages(db: Database, session: number): void {
  const rows = db.all<{ row: number; idx: number | null }>(
    "SELECT row, idx FROM messages WHERE session = ? ORDER BY branch <> 'main', seq",
    [session],
  );
  for (const [idx, message] of rows.entries()) {
    if (message.idx !== idx) db.run("UPDATE messages SET idx = ? WHERE row = ?", [idx, message.row]);
  }
}

function summarise(db: Database, session: number, mtime: string): void {
  const rows = db.all<MessageRow>(
    "SELECT row, key, kind, at, model, offset, branch FROM messages WHERE session = ? ORDER BY seq",
    [session],
  );
  const main = rows.filter(({ branch }) => branch === "main");
  const times = rows.flatMap(({ at }) => (at === null ? [] : [at])).sort();
  const told = db.get<{ at: string | null }>(
    "SELECT coalesce(told_updated, told_created) AS at FROM sessions WHERE row = ?",
    [session],
  )?.at;
  const models = [...new Set(rows.flatMap(({ model }) => (model === null ? [] : [model])))];
  db.run(
    `UPDATE sessions SET title = ?, created = coalesce(told_created, ?), updated = max(coalesce(told_updated, ''), coalesce(told_created, ''), ?), messages = ?, prompts = ?, active_ms = ?, models = ?, dirty = 0 WHERE row = ?`,
    [
      titleOf(db, session),
      times[0] ?? mtime,
      times.at(-1) ?? told ?? mtime,
      main.length,
      main.filter(({ kind }) => kind === "prompt").length,
      activeMsOf(times.map((at) => Date.parse(at))),
      JSON.stringify(models),
      session,
    ],
  );
}

/** A summary line names a leaf; written for another session, it is no title of this one. */
export function titleOf(db: Database, session: number): string {
  const titles = db.all<{ rank: number; text: string; leaf: string }>(
    "SELECT rank, text, leaf FROM titles WHERE session = ? ORDER BY rank DESC, n DESC",
    [session],
  );
  const known = titles.find(({ rank, leaf }) => rank !== 2 || hasNode(db, session, leaf));
  if (known === undefined) return "";
  const line = known.text.replace(/\s+/g, " ").trim();
  const points = [...line];
  return known.rank === 1 && points.length > titleLength ? `${points.slice(0, titleLength - 1).join("")}…` : line;
}

function hasNode(db: Database, session: number, id: string): boolean {
  return db.get("SELECT 1 FROM nodes WHERE session = ? AND id = ?", [session, id]) !== undefined;
}
