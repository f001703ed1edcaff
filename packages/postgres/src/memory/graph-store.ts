import { ToolError } from "@toolhaft/core";
import type {
  Caller,
  Edge,
  EdgeDraft,
  EdgeOutcome,
  Entity,
  EntityDraft,
  EntityOutcome,
  GraphStore,
  LevelOptions,
} from "@toolhaft/memory";
import { foldText } from "@toolhaft/text";
import { type PostgresOptions, postgresDatabase, type Sql, type SqlValue, type Transaction } from "../database.ts";
import { throwIfCancelled } from "./kv-store.ts";
import { migrations } from "./schema.ts";

interface EntityRow {
  row: number;
  id: string;
  name: string;
  type: string;
  attributes: string;
  created_at: number;
  updated_at: number;
  removed_at: number | null;
}

interface EdgeRow {
  id: string;
  from_id: string;
  to_id: string;
  type: string;
  weight: number;
  created_at: number;
  updated_at: number;
}

/** Entities and edges in tables of the memories' schema; foreign keys keep every edge between two entities. */
export function graphStore(options: PostgresOptions): GraphStore {
  const db = postgresDatabase(options, "memory", migrations);
  const writing = <T>(caller: Caller, work: (sql: Transaction) => Promise<T>, signal: AbortSignal): Promise<T> => {
    throwIfCancelled(signal);
    return db.transaction(async (sql) => {
      // One writer of a graph at a time: what is merged and removed depends on what was there.
      await sql.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 4))", [JSON.stringify(who(caller))]);
      return work(sql);
    });
  };
  return {
    upsertEntity: (caller, entity, signal) => writing(caller, (sql) => upsertEntity(sql, caller, entity), signal),
    upsertEdge: (caller, edge, signal) => writing(caller, (sql) => upsertEdge(sql, caller, edge), signal),
    async find(caller, nameOrId, signal) {
      throwIfCancelled(signal);
      return find(db, caller, nameOrId);
    },
    async entities(caller, ids, signal) {
      throwIfCancelled(signal);
      const sql = `${selectEntity} AND e.id = ANY(:ids::text[])`;
      return (await db.all<EntityRow>(sql, { ...who(caller), ids })).map(toEntity);
    },
    async names(caller, limit, signal) {
      throwIfCancelled(signal);
      const sql = `${selectEntity} ORDER BY e.updated_at DESC, e.row DESC LIMIT :limit`;
      return (await db.all<EntityRow>(sql, { ...who(caller), limit })).map((row) => row.name);
    },
    setRemoved: (caller, id, removed, at, signal) =>
      writing(caller, (sql) => setRemoved(sql, caller, id, removed, at), signal),
    async level(caller, from, level, signal) {
      throwIfCancelled(signal);
      return levelEdges(db, caller, from, level);
    },
    async between(caller, ids, { types }, signal) {
      throwIfCancelled(signal);
      const sql = `${selectEdge} AND a.id = ANY(:ids::text[]) AND b.id = ANY(:ids::text[])
        AND ${ofTypes} ORDER BY d.weight DESC, d.id`;
      return (await db.all<EdgeRow>(sql, { ...who(caller), ids, types })).map(toEdge);
    },
    [Symbol.asyncDispose]: () => db.close(),
  };
}

function who(caller: Caller): Record<string, SqlValue> {
  return { workspace: caller.workspace, agent: caller.agent };
}

/** Null: all. */
const ofTypes = "(:types::text[] IS NULL OR d.type_key = ANY(:types))";

const entityColumns = "e.row, e.id, e.name, e.type, e.attributes, e.created_at, e.updated_at, e.removed_at";
const selectEntity = `SELECT ${entityColumns} FROM @entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.removed_at IS NULL`;
/** Both ends belong to the caller: edges are only ever made between two of his entities. */
const selectEdge = `SELECT d.id, a.id AS from_id, b.id AS to_id, d.type, d.weight, d.created_at, d.updated_at
  FROM @edges d JOIN @entities a ON a.row = d.from_row JOIN @entities b ON b.row = d.to_row
  WHERE d.removed_at IS NULL AND a.workspace = :workspace AND a.agent = :agent AND b.workspace = :workspace AND b.agent = :agent`;

async function upsertEntity(db: Sql, caller: Caller, draft: EntityDraft): Promise<EntityOutcome> {
  const nameKey = foldText(draft.name);
  const typeKey = foldText(draft.type);
  const existing = await db.get<EntityRow>(
    `SELECT ${entityColumns} FROM @entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.name_key = :nameKey AND e.type_key = :typeKey`,
    { ...who(caller), nameKey, typeKey },
  );
  const before =
    existing && existing.removed_at === null ? (JSON.parse(existing.attributes) as Record<string, unknown>) : {};
  const attributes = merge(before, draft.attributes);
  draft.check(attributes);
  const changed = [...new Set([...Object.keys(before), ...Object.keys(attributes)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(attributes[key]),
  );
  if (!existing) {
    await db.run(
      `INSERT INTO @entities(id, workspace, agent, name, type, name_key, type_key, attributes, created_at, updated_at)
       VALUES(:id, :workspace, :agent, :name, :type, :nameKey, :typeKey, :attributes, :at, :at)`,
      {
        ...who(caller),
        id: draft.id,
        name: draft.name,
        type: draft.type,
        nameKey,
        typeKey,
        attributes: JSON.stringify(attributes),
        at: draft.at,
      },
    );
  } else if (changed.length > 0 || existing.removed_at !== null) {
    await db.run("UPDATE @entities SET attributes = ?, updated_at = ?, removed_at = NULL WHERE row = ?", [
      JSON.stringify(attributes),
      draft.at,
      existing.row,
    ]);
  }
  const stored = await db.get<EntityRow>(`${selectEntity} AND e.name_key = :nameKey AND e.type_key = :typeKey`, {
    ...who(caller),
    nameKey,
    typeKey,
  });
  if (!stored) throw new Error("the entity is not there after it was written");
  const sameName = await db.all<{ id: string; type: string }>(
    `SELECT e.id, e.type FROM @entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.removed_at IS NULL
       AND e.name_key = :nameKey AND e.type_key <> :typeKey ORDER BY e.type_key`,
    { ...who(caller), nameKey, typeKey },
  );
  return {
    entity: toEntity(stored),
    created: !existing || existing.removed_at !== null,
    changed,
    sameName: sameName.map((row) => ({ ...row })),
  };
}

/** Own properties only, null removes: a key `__proto__` is a key like any other. */
function merge(
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

async function upsertEdge(db: Sql, caller: Caller, draft: EdgeDraft): Promise<EdgeOutcome> {
  const end = async (id: string) =>
    (await db.get<EntityRow>(`${selectEntity} AND e.id = :id`, { ...who(caller), id }))?.row;
  const from = await end(draft.from);
  const to = await end(draft.to);
  if (from === undefined) return { kind: "missing", id: draft.from } as const;
  if (to === undefined) return { kind: "missing", id: draft.to } as const;
  const typeKey = foldText(draft.type);
  const existing = await db.get<{ id: string; removed_at: number | null }>(
    "SELECT id, removed_at FROM @edges WHERE from_row = ? AND to_row = ? AND type_key = ?",
    [from, to, typeKey],
  );
  if (existing) {
    await db.run("UPDATE @edges SET weight = ?, updated_at = ?, removed_at = NULL WHERE id = ?", [
      draft.weight,
      draft.at,
      existing.id,
    ]);
  } else {
    await db.run(
      "INSERT INTO @edges(id, from_row, to_row, type, type_key, weight, created_at, updated_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      [draft.id, from, to, draft.type, typeKey, draft.weight, draft.at, draft.at],
    );
  }
  const edge = await db.get<EdgeRow>(`${selectEdge} AND d.id = :id`, { ...who(caller), id: existing?.id ?? draft.id });
  if (!edge) throw new Error("the edge is not there after it was written");
  return { kind: "stored", edge: toEdge(edge), created: !existing || existing.removed_at !== null } as const;
}

async function find(db: Sql, caller: Caller, nameOrId: string): Promise<Entity[]> {
  const rows = await db.all<EntityRow>(`${selectEntity} AND e.id = :given`, { ...who(caller), given: nameOrId });
  if (rows.length > 0) return rows.map(toEntity);
  return (
    await db.all<EntityRow>(`${selectEntity} AND e.name_key = :key ORDER BY e.type_key`, {
      ...who(caller),
      key: foldText(nameOrId),
    })
  ).map(toEntity);
}

/** An entity takes its edges along: those removed at the same time come back with it. */
async function setRemoved(
  db: Sql,
  caller: Caller,
  id: string,
  removed: boolean,
  at: number,
): Promise<string[] | undefined> {
  const entity = await db.get<EntityRow>(
    `SELECT ${entityColumns} FROM @entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.id = :id`,
    { ...who(caller), id },
  );
  return entity ? await setEntityRemoved(db, entity, removed, at) : await setEdgeRemoved(db, caller, id, removed, at);
}

/** An entity takes its edges along: those removed at the same time, and no others, come back with it. */
async function setEntityRemoved(db: Sql, entity: EntityRow, removed: boolean, at: number): Promise<string[]> {
  if ((entity.removed_at !== null) === removed) return [];
  const atEntity = "(d.from_row = :row OR d.to_row = :row)";
  const { row } = entity;
  if (removed) {
    // Later than any edge that was removed by itself, also on a clock that stands still.
    const last = await db.get<{ last: number | null }>(
      `SELECT max(d.removed_at) AS last FROM @edges d WHERE ${atEntity}`,
      { row },
    );
    const when = Math.max(at, (last?.last ?? 0) + 1);
    const edges = await db.all<{ id: string }>(
      `UPDATE @edges AS d SET removed_at = :when WHERE ${atEntity} AND d.removed_at IS NULL RETURNING id`,
      { row, when },
    );
    await db.run("UPDATE @entities SET removed_at = ? WHERE row = ?", [when, row]);
    return [entity.id, ...edges.map(({ id }) => id).sort()];
  }
  const values = { row, was: entity.removed_at };
  const goneEnd = `(SELECT e.removed_at FROM @entities e WHERE e.row IN (d.from_row, d.to_row) AND e.row <> :row AND e.removed_at IS NOT NULL)`;
  // What leads to another removed entity comes back with that one.
  await db.run(
    `UPDATE @edges AS d SET removed_at = ${goneEnd} WHERE ${atEntity} AND d.removed_at = :was AND ${goneEnd} IS NOT NULL`,
    values,
  );
  const edges = await db.all<{ id: string }>(
    `UPDATE @edges AS d SET removed_at = NULL WHERE ${atEntity} AND d.removed_at = :was AND ${goneEnd} IS NULL RETURNING id`,
    values,
  );
  await db.run("UPDATE @entities SET removed_at = NULL WHERE row = ?", [row]);
  return [entity.id, ...edges.map(({ id }) => id).sort()];
}

async function setEdgeRemoved(
  db: Sql,
  caller: Caller,
  id: string,
  removed: boolean,
  at: number,
): Promise<string[] | undefined> {
  const edge = await db.get<{ id: string; removed_at: number | null; ends: number }>(
    `SELECT d.id, d.removed_at, (a.removed_at IS NULL)::int + (b.removed_at IS NULL)::int AS ends
     FROM @edges d JOIN @entities a ON a.row = d.from_row JOIN @entities b ON b.row = d.to_row
     WHERE d.id = :id AND a.workspace = :workspace AND a.agent = :agent`,
    { ...who(caller), id },
  );
  if (!edge) return undefined;
  if ((edge.removed_at !== null) === removed) return [];
  if (!removed && edge.ends < 2) {
    throw new ToolError("conflict", `an entity at an end of ${id} is removed`, {
      hint: "restore the entity; its edges come back with it",
      retryable: false,
    });
  }
  await db.run("UPDATE @edges SET removed_at = ? WHERE id = ?", [removed ? at : null, id]);
  return [id];
}

/** Two statements rather than an OR: each follows its own index and stops at the limit. */
async function levelEdges(
  db: Sql,
  caller: Caller,
  from: readonly string[],
  { direction, types, limit }: LevelOptions,
): Promise<Edge[]> {
  const side = (end: "a" | "b") =>
    db.all<EdgeRow>(
      `${selectEdge} AND ${end}.id = ANY(:from::text[]) AND ${ofTypes}
       ORDER BY d.weight DESC, ${end === "a" ? "b" : "a"}.name, d.id LIMIT :limit`,
      { ...who(caller), from, types, limit },
    );
  const rows = [...(direction === "in" ? [] : await side("a")), ...(direction === "out" ? [] : await side("b"))];
  return [...new Map(rows.map((row) => [row.id, toEdge(row)])).values()];
}

function toEntity(row: EntityRow): Entity {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function toEdge(row: EdgeRow): Edge {
  return {
    id: row.id,
    from: row.from_id,
    to: row.to_id,
    type: row.type,
    weight: row.weight,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
