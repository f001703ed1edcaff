import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import { foldText } from "@toolhaft/text";
import type {
  Caller,
  Edge,
  EdgeDraft,
  Entity,
  EntityDraft,
  EntityOutcome,
  GraphStore,
  LevelOptions,
} from "../../store.ts";
import { type SqliteStoreOptions, storeFile } from "./file.ts";

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

/** Entities and edges in tables of the memory file; foreign keys keep every edge between two entities. */
export function sqliteGraphStore(options: SqliteStoreOptions): GraphStore {
  const file = storeFile(options);
  const reading = async <T>(work: (db: Database) => T, signal: AbortSignal): Promise<T> => {
    if (signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
    return work(await file.db());
  };
  const writing = async <T>(work: (db: Database) => T, signal: AbortSignal): Promise<T> => {
    const db = await file.db();
    return db.write(() => work(db), { signal, timeoutMs: file.lockTimeoutMs });
  };
  return {
    upsertEntity: (caller, entity, signal) => writing((db) => upsertEntity(db, caller, entity), signal),
    upsertEdge: (caller, edge, signal) => writing((db) => upsertEdge(db, caller, edge), signal),
    find: (caller, nameOrId, signal) => reading((db) => find(db, caller, nameOrId), signal),
    entities: (caller, ids, signal) =>
      reading(
        (db) =>
          db
            .all<EntityRow>(`${selectNamed} AND e.id IN (SELECT value FROM json_each(:ids))`, {
              ...who(caller),
              ids: JSON.stringify(ids),
            })
            .map(toEntity),
        signal,
      ),
    names: (caller, limit, signal) =>
      reading(
        (db) =>
          db
            .all<EntityRow>(`${selectEntity} ORDER BY e.updated_at DESC, e.row DESC LIMIT :limit`, {
              ...who(caller),
              limit,
            })
            .map((row) => row.name),
        signal,
      ),
    setRemoved: (caller, id, removed, at, signal) => writing((db) => setRemoved(db, caller, id, removed, at), signal),
    level: (caller, from, level, signal) => reading((db) => levelEdges(db, caller, from, level), signal),
    between: (caller, ids, { types }, signal) =>
      reading(
        (db) =>
          db
            .all<EdgeRow>(
              `${selectEdge} AND a.id IN (SELECT value FROM json_each(:ids)) AND b.id IN (SELECT value FROM json_each(:ids))
               ${typeCondition(types)} ORDER BY d.weight DESC, d.id`,
              { ...who(caller), ids: JSON.stringify(ids), types: JSON.stringify(types ?? []) },
            )
            .map(toEdge),
        signal,
      ),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

function who(caller: Caller): Record<string, string> {
  return { workspace: caller.workspace, agent: caller.agent };
}

const entityColumns = "e.row, e.id, e.name, e.type, e.attributes, e.created_at, e.updated_at, e.removed_at";
const selectEntity = `SELECT ${entityColumns} FROM entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.removed_at IS NULL`;
/** For conditions on ids: "+" keeps SQLite from walking all entities of the caller to find some of them. */
const selectNamed = `SELECT ${entityColumns} FROM entities e WHERE +e.workspace = :workspace AND +e.agent = :agent AND e.removed_at IS NULL`;
/** Both ends belong to the caller: edges are only ever made between two of his entities. */
const selectEdge = `SELECT d.id, a.id AS from_id, b.id AS to_id, d.type, d.weight, d.created_at, d.updated_at
  FROM edges d JOIN entities a ON a.row = d.from_row JOIN entities b ON b.row = d.to_row
  WHERE d.removed_at IS NULL AND +a.workspace = :workspace AND +a.agent = :agent AND +b.workspace = :workspace AND +b.agent = :agent`;

function upsertEntity(db: Database, caller: Caller, draft: EntityDraft): EntityOutcome {
  const nameKey = foldText(draft.name);
  const typeKey = foldText(draft.type);
  const existing = db.get<EntityRow>(
    `SELECT ${entityColumns} FROM entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.name_key = :nameKey AND e.type_key = :typeKey`,
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
    db.run(
      `INSERT INTO entities(id, workspace, agent, name, type, name_key, type_key, attributes, created_at, updated_at)
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
    db.run("UPDATE entities SET attributes = ?, updated_at = ?, removed_at = NULL WHERE row = ?", [
      JSON.stringify(attributes),
      draft.at,
      existing.row,
    ]);
  }
  const stored = db.get<EntityRow>(`${selectEntity} AND e.name_key = :nameKey AND e.type_key = :typeKey`, {
    ...who(caller),
    nameKey,
    typeKey,
  });
  if (!stored) throw new Error("the entity is not there after it was written");
  const sameName = db.all<{ id: string; type: string }>(
    `SELECT e.id, e.type FROM entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.removed_at IS NULL
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

function upsertEdge(db: Database, caller: Caller, draft: EdgeDraft) {
  const end = (id: string) => db.get<EntityRow>(`${selectEntity} AND e.id = :id`, { ...who(caller), id })?.row;
  const [from, to] = [end(draft.from), end(draft.to)];
  if (from === undefined) return { kind: "missing", id: draft.from } as const;
  if (to === undefined) return { kind: "missing", id: draft.to } as const;
  const typeKey = foldText(draft.type);
  const existing = db.get<{ id: string; removed_at: number | null }>(
    "SELECT id, removed_at FROM edges WHERE from_row = ? AND to_row = ? AND type_key = ?",
    [from, to, typeKey],
  );
  if (existing) {
    db.run("UPDATE edges SET weight = ?, updated_at = ?, removed_at = NULL WHERE id = ?", [
      draft.weight,
      draft.at,
      existing.id,
    ]);
  } else {
    db.run(
      "INSERT INTO edges(id, from_row, to_row, type, type_key, weight, created_at, updated_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      [draft.id, from, to, draft.type, typeKey, draft.weight, draft.at, draft.at],
    );
  }
  const edge = db.get<EdgeRow>(`${selectEdge} AND d.id = :id`, { ...who(caller), id: existing?.id ?? draft.id });
  if (!edge) throw new Error("the edge is not there after it was written");
  return { kind: "stored", edge: toEdge(edge), created: !existing || existing.removed_at !== null } as const;
}

function find(db: Database, caller: Caller, nameOrId: string): Entity[] {
  const rows = db.all<EntityRow>(`${selectEntity} AND e.id = :given`, { ...who(caller), given: nameOrId });
  if (rows.length > 0) return rows.map(toEntity);
  return db
    .all<EntityRow>(`${selectEntity} AND e.name_key = :key ORDER BY e.type_key`, {
      ...who(caller),
      key: foldText(nameOrId),
    })
    .map(toEntity);
}

/** An entity takes its edges along: those removed at the same time, and no others, come back with it. */
function setRemoved(db: Database, caller: Caller, id: string, removed: boolean, at: number): string[] | undefined {
  const entity = db.get<EntityRow>(
    `SELECT ${entityColumns} FROM entities e WHERE e.workspace = :workspace AND e.agent = :agent AND e.id = :id`,
    { ...who(caller), id },
  );
  return entity ? setEntityRemoved(db, entity, removed, at) : setEdgeRemoved(db, caller, id, removed, at);
}

function setEntityRemoved(db: Database, entity: EntityRow, removed: boolean, at: number): string[] {
  if ((entity.removed_at !== null) === removed) return [];
  const atEntity = "(d.from_row = :row OR d.to_row = :row)";
  const { row } = entity;
  if (removed) {
    // Later than any edge that was removed by itself, also on a clock that stands still.
    const last = db.get<{ last: number | null }>(`SELECT max(d.removed_at) AS last FROM edges d WHERE ${atEntity}`, {
      row,
    })?.last;
    const when = Math.max(at, (last ?? 0) + 1);
    const edges = db.all<{ id: string }>(
      `UPDATE edges AS d SET removed_at = :when WHERE ${atEntity} AND d.removed_at IS NULL RETURNING id`,
      { row, when },
    );
    db.run("UPDATE entities SET removed_at = ? WHERE row = ?", [when, row]);
    return [entity.id, ...edges.map(({ id }) => id).sort()];
  }
  const parameters = { row, was: entity.removed_at };
  const goneEnd = `(SELECT e.removed_at FROM entities e WHERE e.row IN (d.from_row, d.to_row) AND e.row <> :row AND e.removed_at IS NOT NULL)`;
  // What leads to another removed entity comes back with that one.
  db.run(
    `UPDATE edges AS d SET removed_at = ${goneEnd} WHERE ${atEntity} AND d.removed_at = :was AND ${goneEnd} IS NOT NULL`,
    parameters,
  );
  const edges = db.all<{ id: string }>(
    `UPDATE edges AS d SET removed_at = NULL WHERE ${atEntity} AND d.removed_at = :was AND ${goneEnd} IS NULL RETURNING id`,
    parameters,
  );
  db.run("UPDATE entities SET removed_at = NULL WHERE row = ?", [row]);
  return [entity.id, ...edges.map(({ id }) => id).sort()];
}

function setEdgeRemoved(db: Database, caller: Caller, id: string, removed: boolean, at: number): string[] | undefined {
  const edge = db.get<{ id: string; removed_at: number | null; ends: number }>(
    `SELECT d.id, d.removed_at, (a.removed_at IS NULL) + (b.removed_at IS NULL) AS ends
     FROM edges d JOIN entities a ON a.row = d.from_row JOIN entities b ON b.row = d.to_row
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
  db.run("UPDATE edges SET removed_at = ? WHERE id = ?", [removed ? at : null, id]);
  return [id];
}

function typeCondition(types: readonly string[] | null): string {
  return types === null ? "" : "AND d.type_key IN (SELECT value FROM json_each(:types))";
}

/** Two statements rather than an OR: each follows its own index and stops at the limit. */
function levelEdges(
  db: Database,
  caller: Caller,
  from: readonly string[],
  { direction, types, limit }: LevelOptions,
): Edge[] {
  const parameters = { ...who(caller), from: JSON.stringify(from), types: JSON.stringify(types ?? []), limit };
  const side = (end: "a" | "b") =>
    db.all<EdgeRow>(
      `${selectEdge} AND ${end}.id IN (SELECT value FROM json_each(:from)) ${typeCondition(types)}
       ORDER BY d.weight DESC, ${end === "a" ? "b" : "a"}.name, d.id LIMIT :limit`,
      parameters,
    );
  const rows = [...(direction === "in" ? [] : side("a")), ...(direction === "out" ? [] : side("b"))];
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
