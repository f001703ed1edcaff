import type { Database } from "@toolhaft/sqlite";
import type { Caller, VectorQuery } from "../../store.ts";
import { cosine, fromBytes, hammingDistance, signBits, toBytes } from "../../vector-math.ts";
import { callerParameters, filterConditions } from "./read.ts";
import { live, visible } from "./schema.ts";

/** Up to here every vector is compared; above, the nearest by sign bits first. */
const exactRows = 50_000;
const bitCandidates = 1_000;

export function putVectors(
  db: Database,
  caller: Caller,
  entries: readonly { id: string; model: string; vector: Float32Array }[],
): void {
  for (const { id, model, vector } of entries) {
    const row = db.get<{ row: number }>(`SELECT m.row FROM memories m WHERE m.id = :id AND ${visible}`, {
      ...callerParameters(caller),
      id,
    })?.row;
    if (row === undefined) continue;
    db.run(
      `INSERT INTO memory_vectors(row, model, dims, bits, vector) VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(row) DO UPDATE SET model = excluded.model, dims = excluded.dims, bits = excluded.bits, vector = excluded.vector`,
      [row, model, vector.length, signBits(vector), toBytes(vector)],
    );
  }
}

export function pendingVectors(
  db: Database,
  caller: Caller,
  model: string,
  limit: number,
): { id: string; text: string }[] {
  return db.all<{ id: string; text: string }>(
    `SELECT m.id, m.title || char(10) || m.content AS text FROM memories m LEFT JOIN memory_vectors v ON v.row = m.row
     WHERE ${visible} AND ${live} AND (v.row IS NULL OR v.model <> :model) ORDER BY m.row LIMIT :limit`,
    { ...callerParameters(caller), model, limit },
  );
}

export function countPending(db: Database, caller: Caller, model: string): number {
  return (
    db.get<{ n: number }>(
      `SELECT count(*) AS n FROM memories m LEFT JOIN memory_vectors v ON v.row = m.row
       WHERE ${visible} AND ${live} AND (v.row IS NULL OR v.model <> :model)`,
      { ...callerParameters(caller), model },
    )?.n ?? 0
  );
}

export function searchVectors(db: Database, caller: Caller, query: VectorQuery): { id: string; cosine: number }[] {
  const parameters = { ...callerParameters(caller), model: query.model, dims: query.vector.length };
  const where = [visible, live, "v.model = :model AND v.dims = :dims", ...filterConditions(query, parameters)].join(
    " AND ",
  );
  const from = `FROM memory_vectors v JOIN memories m ON m.row = v.row WHERE ${where}`;
  const count = db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, parameters)?.n ?? 0;
  const rows =
    count <= exactRows
      ? db.iterate<{ id: string; vector: Uint8Array }>(`SELECT m.id, v.vector ${from}`, parameters)
      : nearestByBits(db, from, parameters, query.vector);
  const found: { id: string; cosine: number }[] = [];
  for (const { id, vector } of rows) found.push({ id, cosine: cosine(query.vector, fromBytes(vector)) });
  return found.sort((a, b) => b.cosine - a.cosine || (a.id < b.id ? -1 : 1)).slice(0, query.limit);
}

function nearestByBits(
  db: Database,
  from: string,
  parameters: Record<string, string | number | bigint | Uint8Array | null>,
  vector: Float32Array,
): { id: string; vector: Uint8Array }[] {
  const wanted = signBits(vector);
  const nearest: { row: number; distance: number }[] = [];
  for (const { row, bits } of db.iterate<{ row: number; bits: Uint8Array }>(
    `SELECT v.row, v.bits ${from}`,
    parameters,
  )) {
    nearest.push({ row, distance: hammingDistance(wanted, bits) });
  }
  nearest.sort((a, b) => a.distance - b.distance || a.row - b.row);
  return nearest
    .slice(0, bitCandidates)
    .flatMap(
      ({ row }) =>
        db.get<{ id: string; vector: Uint8Array }>(
          `SELECT m.id, v.vector FROM memory_vectors v JOIN memories m ON m.row = v.row WHERE v.row = :row AND ${visible} AND ${live}`,
          { workspace: parameters.workspace ?? null, agent: parameters.agent ?? null, row },
        ) ?? [],
    );
}
