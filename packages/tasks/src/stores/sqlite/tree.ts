import type { Database } from "@toolhaft/sqlite";
import type { TreeNode, TreePage } from "../../store.ts";
import { readTask, toTask } from "./rows.ts";

interface Link {
  seq: number;
  id: string;
  parent: string | null;
  continues: string | null;
  level: number;
}

/** The tree below a root or a task, depth first; a continuation stands beside its source. */
export function readTree(
  db: Database,
  query: { root?: string; task?: string; depth: number; limit: number },
): TreePage {
  const links = linksOf(db, query);
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
  return { nodes: cut.flatMap((link) => nodeOf(db, link)), total: links.length, hiddenBelowDepth: hidden };

  function visit(level: readonly Link[], depth: number): void {
    for (const link of besideTheirSource(level)) {
      if (depth > query.depth) hidden++;
      else shown.push({ ...link, level: depth - 1 });
      visit(children.get(link.id) ?? [], depth + 1);
    }
  }
}

function linksOf(db: Database, { root, task }: { root?: string; task?: string }): Link[] {
  const columns = "t.seq, t.id, t.parent, t.continues, 0 AS level";
  if (task !== undefined) {
    return db.all<Link>(
      `WITH RECURSIVE below(id) AS (SELECT ? UNION SELECT t.id FROM below JOIN task t ON t.parent = below.id)
       SELECT ${columns} FROM below JOIN task t ON t.id = below.id ORDER BY t.seq`,
      [task],
    );
  }
  if (root !== undefined) return db.all<Link>(`SELECT ${columns} FROM task t WHERE t.root = ? ORDER BY t.seq`, [root]);
  return db.all<Link>(`SELECT ${columns} FROM task t ORDER BY t.root, t.seq`);
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

function nodeOf(db: Database, link: Link): TreeNode[] {
  const row = readTask(db, link.id);
  return row === undefined ? [] : [{ task: toTask(row), level: link.level, attempts: row.attempt }];
}
