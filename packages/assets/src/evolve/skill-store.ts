import { randomUUID } from "node:crypto";
import { type Clock, systemClock, ToolError } from "@toolhaft/core";
import { processStart } from "@toolhaft/core/node";
import type { Database, Migration } from "@toolhaft/sqlite";
import type { SkillVersion } from "../model.ts";
import { sha256, type Tree, type TreeFile, treeHash } from "./tree.ts";

const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "versions of skills",
    up(db) {
      db.run(`CREATE TABLE versions(
        skill TEXT NOT NULL, version INTEGER NOT NULL, parent INTEGER, origin INTEGER NOT NULL, op TEXT NOT NULL,
        changelog TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, call TEXT NOT NULL, at INTEGER NOT NULL,
        tree_sha TEXT NOT NULL, strategy TEXT, state TEXT NOT NULL CHECK(state IN ('final', 'pending')), PRIMARY KEY(skill, version)
      ) STRICT, WITHOUT ROWID`);
      db.run(`CREATE TABLE files(
        skill TEXT NOT NULL, version INTEGER NOT NULL, path TEXT NOT NULL, sha TEXT NOT NULL, mode INTEGER NOT NULL,
        PRIMARY KEY(skill, version, path), FOREIGN KEY(skill, version) REFERENCES versions(skill, version) ON DELETE CASCADE
      ) STRICT, WITHOUT ROWID`);
      db.run("CREATE INDEX files_sha ON files(sha)");
      db.run("CREATE TABLE contents(sha TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT");
      db.run(`CREATE TABLE leases(skill TEXT PRIMARY KEY, token TEXT NOT NULL, pid INTEGER NOT NULL, start TEXT NOT NULL,
        since INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`);
    },
  },
];

/** A version with what the store alone knows of it. */
export type StoredVersion = SkillVersion & { pending: boolean };

export type NewVersion = Omit<SkillVersion, "treeSha256"> & { tree: Tree };

export interface Lease {
  release(): Promise<void>;
}

/** The history of skills in `skills.db`. */
export interface SkillStore {
  /** Oldest first. */
  versions(skill: string): StoredVersion[];
  tree(skill: string, version: number): Map<string, TreeFile>;
  /** Adds versions that are not yet known to be on disk. */
  begin(skill: string, versions: readonly NewVersion[]): Promise<void>;
  finish(skill: string): Promise<void>;
  drop(skill: string): Promise<void>;
  prune(skill: string, limits: { versions: number; bytes: number }): Promise<void>;
  /** @throws ToolError `timeout` naming the holder */
  lease(skill: string, signal: AbortSignal): Promise<Lease>;
  close(): void;
}

const leaseMs = 30_000;
const waitMs = 10_000;
const renewMs = 8_000;
const pollMs = 15;

export async function openSkillStore(path: string, clock: Clock = systemClock): Promise<SkillStore> {
  const { openDatabase } = await import("@toolhaft/sqlite");
  return storeOf(
    await openDatabase({ path, migrations, family: "skills", durability: "full", busyTimeoutMs: waitMs }),
    clock,
  );
}

interface VersionRow {
  version: number;
  parent: number | null;
  origin: number;
  op: string;
  changelog: string;
  agent: string;
  session: string;
  call: string;
  at: number;
  tree_sha: string;
  strategy: string | null;
  state: string;
}

function storeOf(db: Database, clock: Clock): SkillStore {
  return {
    versions: (skill) =>
      db.all<VersionRow>("SELECT * FROM versions WHERE skill = ? ORDER BY version", [skill]).map(versionOf),
    tree(skill, version) {
      const rows = db.all<{ path: string; mode: number; bytes: Uint8Array }>(
        "SELECT path, mode, bytes FROM files JOIN contents USING(sha) WHERE skill = ? AND version = ? ORDER BY path",
        [skill, version],
      );
      return new Map(rows.map(({ path, mode, bytes }) => [path, { bytes: Buffer.from(bytes), mode }]));
    },
    begin: (skill, versions) =>
      db.write(() => {
        for (const one of versions) insert(db, skill, one);
      }),
    finish: (skill) =>
      db.write(() => void db.run("UPDATE versions SET state = 'final' WHERE skill = ? AND state = 'pending'", [skill])),
    drop: (skill) =>
      db.write(() => {
        db.run("DELETE FROM versions WHERE skill = ? AND state = 'pending'", [skill]);
        dropUnused(db);
      }),
    prune: (skill, limits) => db.write(() => prune(db, skill, limits)),
    lease: (skill, signal) => takeLease(db, clock, skill, signal),
    close: () => db.close(),
  };
}

function versionOf(row: VersionRow): StoredVersion {
  const {
    version,
    parent,
    origin,
    op,
    changelog,
    agent,
    session,
    call,
    at,
    tree_sha: treeSha256,
    strategy,
    state,
  } = row;
  return {
    version,
    parent,
    origin,
    op,
    changelog,
    agent,
    sessionId: session,
    callId: call,
    at,
    treeSha256,
    ...(strategy !== null && { strategy }),
    pending: state === "pending",
  };
}

function insert(db: Database, skill: string, one: NewVersion): void {
  db.run(
    "INSERT INTO versions(skill, version, parent, origin, op, changelog, agent, session, call, at, tree_sha, strategy, state) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')",
    [
      skill,
      one.version,
      one.parent,
      one.origin,
      one.op,
      one.changelog,
      one.agent,
      one.sessionId,
      one.callId,
      one.at,
      treeHash(one.tree),
      one.strategy ?? null,
    ],
  );
  for (const [path, { bytes, mode }] of one.tree) {
    const sha = sha256(bytes);
    db.run("INSERT OR IGNORE INTO contents(sha, bytes) VALUES(?, ?)", [sha, bytes]);
    db.run("INSERT INTO files(skill, version, path, sha, mode) VALUES(?, ?, ?, ?, ?)", [
      skill,
      one.version,
      path,
      sha,
      mode,
    ]);
  }
}

/** Oldest versions go until both limits hold; the newest always stays. */
function prune(db: Database, skill: string, limits: { versions: number; bytes: number }): void {
  const kept = db
    .all<{ version: number }>("SELECT version FROM versions WHERE skill = ? ORDER BY version", [skill])
    .map(({ version }) => version);
  const size = (): number =>
    db.get<{ bytes: number | null }>(
      "SELECT sum(length(bytes)) AS bytes FROM contents WHERE sha IN (SELECT sha FROM files WHERE skill = ?)",
      [skill],
    )?.bytes ?? 0;
  let dropped = false;
  while (kept.length > 1 && (kept.length > limits.versions || size() > limits.bytes)) {
    const oldest = kept.shift();
    if (oldest === undefined) break;
    db.run("DELETE FROM versions WHERE skill = ? AND version = ?", [skill, oldest]);
    dropped = true;
  }
  if (dropped) dropUnused(db);
}

function dropUnused(db: Database): void {
  db.run("DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.sha = contents.sha)");
}

interface LeaseRow {
  token: string;
  pid: number;
  start: string;
  since: number;
  until: number;
}

/** The skill for one call alone, across processes: renewed while it is held, broken when its holder is dead. */
async function takeLease(db: Database, clock: Clock, skill: string, signal: AbortSignal): Promise<Lease> {
  const token = randomUUID();
  const start = (await processStart(process.pid)) ?? "";
  const begun = performance.now();
  for (;;) {
    if (signal.aborted) throw new ToolError("cancelled", "the call was stopped while it waited for the skill");
    const holder = db.get<LeaseRow>("SELECT token, pid, start, since, until FROM leases WHERE skill = ?", [skill]);
    const free = !holder || holder.until < clock.now() || !(await isAlive(holder));
    if (free && (await claim(db, clock, skill, { token, start }, holder?.token))) break;
    if (performance.now() - begun > waitMs) throw busy(skill, holder, clock.now());
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const timer = setInterval(() => {
    db.write(
      () =>
        void db.run("UPDATE leases SET until = ? WHERE skill = ? AND token = ?", [clock.now() + leaseMs, skill, token]),
    ).catch(() => undefined);
  }, renewMs);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      await db.write(() => void db.run("DELETE FROM leases WHERE skill = ? AND token = ?", [skill, token]));
    },
  };
}

/** Takes the lease unless somebody else did since it was looked at. */
function claim(
  db: Database,
  clock: Clock,
  skill: string,
  own: { token: string; start: string },
  seen: string | undefined,
): Promise<boolean> {
  return db.write(() => {
    const now = db.get<{ token: string }>("SELECT token FROM leases WHERE skill = ?", [skill])?.token;
    if (now !== seen) return false;
    db.run("INSERT OR REPLACE INTO leases(skill, token, pid, start, since, until) VALUES(?, ?, ?, ?, ?, ?)", [
      skill,
      own.token,
      process.pid,
      own.start,
      clock.now(),
      clock.now() + leaseMs,
    ]);
    return true;
  });
}

async function isAlive({ pid, start }: LeaseRow): Promise<boolean> {
  return (await processStart(pid)) === start;
}

function busy(skill: string, holder: LeaseRow | undefined, now: number): ToolError {
  const who = holder
    ? `process ${holder.pid} for ${Math.max(0, Math.round((now - holder.since) / 1_000))} s`
    : "another process";
  return new ToolError("timeout", `${skill} is being changed by ${who}`, {
    hint: "call again",
    retryable: true,
    details: holder ? { pid: holder.pid, since: holder.since } : {},
  });
}
