import type { TreeNode, TreePage } from "@toolhaft/tasks";
import { toTask } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";
import { type PackedEndedRow, taskColumns, unpackEnded } from "./rows.ts";

interface Link {
  seq: number;
  id: string;
  parent: string | null;
  continues: string | null;
  level: number;
}

/** The tree below a root or a task, depth first; a continuation stands beside its source. */
export async function readTree(
  db: Sql,
  query: { root?: string; task?: string; depth: number; limit: number },
): Promise<TreePage> {
  const links = await linksOf(db, query);
  const known = new Map(links.map((link) => [link.id, link]));
  const children = new Map<string | null, Link[]>();
  for (const link of links) {
    const above = link.parent !== null && known.has(link.parent) && link.id !== query.task ? link.parent : null;
    children.set(above, [...(children.get(above) ?? []), link]);
  }
  const shown: Link[] = [];
  let hidden = 0;
  visit(children.get(null) ?? [], 1);
  const cut = shown.slice(0, query.limit);
  return { nodes: await nodesOf(db, cut), total: links.length, hiddenBelowDepth: hidden };

  function visit(level: readonly Link[], depth: number): void {
    for (const link of besideTheirSource(level)) {
      if (depth > query.depth) hidden++;
      else shown.push({ ...link, level: depth - 1 });
      visit(children.get(link.id) ?? [], depth + 1);
    }
  }
}

async function linksOf(db: Sql, { root, task }: { root?: string; task?: string }): Promise<Link[]> {
  const columns = "t.seq, t.id, t.parent, t.continues, 0 AS level";
  if (task !== undefined) {
    return await db.all<Link>(
      `WITH RECURSIVE below(id) AS (SELECT ?::text UNION SELECT t.id FROM below JOIN @task t ON t.parent = below.id)
       SELECT ${columns} FROM below JOIN @task t ON t.id = below.id ORDER BY t.seq`,
      [task],
    );
  }
  if (root !== undefined)
    return await db.all<Link>(`SELECT ${columns} FROM @task t WHERE t.root = ? ORDER BY t.seq`, [root]);
  return await db.all<Link>(`SELECT ${columns} FROM @task t ORDER BY t.root, t.seq`);
}

/** In order of posting, but each continuation right after what it continues, and after earlier continuations of it. */
function besideTheirSource(level: readonly Link[]): Link[] {
  const here = new Set(level.map(({ id }) => id));
  const after = new Map<string, Link[]>();
  const first: Link[] = [];
  for (const link of level) {
    if (link.continues !== null && here.has(link.continues))
      after.set(link.continues, [...(after.get(link.continues) ?? []), link]);
    else first.push(link);
  }
  const ordered: Link[] = [];
  const place = (link: Link): void => {
    ordered.push(link);
    for (const next of after.get(link.id) ?? []) place(next);
  };
  for (const link of first) place(link);
  return ordered;
}

async function nodesOf(db: Sql, links: readonly Link[]): Promise<TreeNode[]> {
  const rows = await db.all<PackedEndedRow>(`SELECT ${taskColumns} FROM @task t WHERE t.seq = ANY(?::bigint[])`, [
    links.map(({ seq }) => seq),
  ]);
  const found = new Map(rows.map((row) => unpackEnded(row)).map((row) => [row.seq, row]));
  return links.flatMap(({ seq, level }) => {
    const row = found.get(seq);
    return row === undefined ? [] : [{ task: toTask(row), level, attempts: row.attempt }];
  });
}
