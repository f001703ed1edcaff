import type { Caller, VectorQuery } from "@toolhaft/memory";
import { cosine, fromBytes, hammingDistance, signBits, toBytes } from "@toolhaft/memory";
import type { Sql } from "../database.ts";
import { callerParameters, filterConditions, type Named } from "./read.ts";
import { live, visible } from "./rows.ts";

/** Up to here every vector is compared; above, the nearest by sign bits first. */
const exactRows = 50_000;
const bitCandidates = 1_000;

export async function putVectors(
  db: Sql,
  caller: Caller,
  entries: readonly { id: string; model: string; vector: Float32Array }[],
): Promise<void> {
  for (const { id, model, vector } of entries) {
    const row = (
      await db.get<{ row: number }>(`SELECT m.row FROM @memories m WHERE m.id = :id AND ${visible}`, {
        ...callerParameters(caller),
        id,
      })
    )?.row;
    if (row === undefined) continue;
    await db.run(
      `INSERT INTO @memory_vectors(row, model, dims, bits, vector) VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(row) DO UPDATE SET model = excluded.model, dims = excluded.dims, bits = excluded.bits, vector = excluded.vector`,
      [row, model, vector.length, signBits(vector), toBytes(vector)],
    );
  }
}

export async function pendingVectors(
  db: Sql,
  caller: Caller,
  model: string,
  limit: number,
): Promise<{ id: string; text: string }[]> {
  return await db.all<{ id: string; text: string }>(
    `SELECT m.id, m.title || chr(10) || m.content AS text FROM @memories m LEFT JOIN @memory_vectors v ON v.row = m.row
     WHERE ${visible} AND ${live} AND (v.row IS NULL OR v.model <> :model) ORDER BY m.row LIMIT :limit`,
    { ...callerParameters(caller), model, limit },
  );
}

export async function countPending(db: Sql, caller: Caller, model: string): Promise<number> {
  return (
    (
      await db.get<{ n: number }>(
        `SELECT count(*) AS n FROM @memories m LEFT JOIN @memory_vectors v ON v.row = m.row
       WHERE ${visible} AND ${live} AND (v.row IS NULL OR v.model <> :model)`,
        { ...callerParameters(caller), model },
      )
    )?.n ?? 0
  );
}

export async function searchVectors(
  db: Sql,
  caller: Caller,
  query: VectorQuery,
): Promise<{ id: string; cosine: number }[]> {
  const parameters: Named = { ...callerParameters(caller), model: query.model, dims: query.vector.length };
  const where = [visible, live, "v.model = :model AND v.dims = :dims", ...filterConditions(query, parameters)].join(
    " AND ",
  );
  const from = `FROM @memory_vectors v JOIN @memories m ON m.row = v.row WHERE ${where}`;
  const count = (await db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, parameters))?.n ?? 0;
  const rows =
    count <= exactRows
      ? await db.all<{ id: string; vector: Uint8Array }>(`SELECT m.id, v.vector ${from}`, parameters)
      : await nearestByBits(db, from, parameters, query.vector);
  const found: { id: string; cosine: number }[] = [];
  for (const { id, vector } of rows) found.push({ id, cosine: cosine(query.vector, fromBytes(vector)) });
  return found.sort((a, b) => b.cosine - a.cosine || (a.id < b.id ? -1 : 1)).slice(0, query.limit);
}

async function nearestByBits(
  db: Sql,
  from: string,
  parameters: Named,
  vector: Float32Array,
): Promise<{ id: string; vector: Uint8Array }[]> {
  const wanted = signBits(vector);
  const nearest: { row: number; distance: number }[] = [];
  for (const { row, bits } of await db.all<{ row: number; bits: Uint8Array }>(
    `SELECT v.row, v.bits ${from}`,
    parameters,
  ))
    nearest.push({ row, distance: hammingDistance(wanted, bits) });
  nearest.sort((a, b) => a.distance - b.distance || a.row - b.row);
  return db.all<{ id: string; vector: Uint8Array }>(`SELECT m.id, v.vector ${from} AND v.row = ANY(:rows::bigint[])`, {
    ...parameters,
    rows: nearest.slice(0, bitCandidates).map(({ row }) => row),
  });
}
