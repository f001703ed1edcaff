/** A line's place in the tree, in file order. `message` is the row it belongs to; null for lines without content. */
export interface TreeNode {
  id: string;
  parent: string | null;
  logical: string | null;
  message: number | null;
}

export interface Tree {
  /** Branch of each message row: `main`, `b1`, `b2` … */
  branches: ReadonlyMap<number, string>;
  /** Message row of the node each message hangs on. */
  parents: ReadonlyMap<number, number | null>;
  /** Positions of nodes whose parent is not in the file, or which close a cycle. */
  broken: readonly number[];
}

const none = -1;

/**
 * Finds the path from the newest leaf to the root and names what lies beside it. A parent that is not in the file is
 * taken to be the line before; a cycle is cut at its later line.
 */
export function treeOf(nodes: readonly TreeNode[]): Tree {
  const at = new Map<string, number>();
  for (const [position, node] of nodes.entries()) at.set(node.id, position);
  const broken: number[] = [];
  const parents = new Int32Array(nodes.length).fill(none);
  for (const [position, node] of nodes.entries()) parents[position] = parentOf(node, position, at, broken);
  cutCycles(parents, broken);
  const main = mainPath(nodes, parents);
  const branches = new Map<number, string>();
  for (const [position, node] of nodes.entries()) {
    if (node.message !== null && main[position] === 1) branches.set(node.message, "main");
  }
  nameBranches(nodes, parents, main, branches);
  return { branches, parents: messageParents(nodes, parents), broken: broken.sort((a, b) => a - b) };
}

function parentOf(node: TreeNode, position: number, at: ReadonlyMap<string, number>, broken: number[]): number {
  const named = node.parent ?? node.logical;
  if (named === null) return none;
  const found = at.get(named);
  if (found !== undefined && found !== position) return found;
  broken.push(position);
  return position - 1;
}

/** Each node is walked once: colours tell a node of this walk (a cycle) from one that is known to reach a root. */
function cutCycles(parents: Int32Array, broken: number[]): void {
  const colour = new Int32Array(parents.length);
  for (let start = 0; start < parents.length; start += 1) {
    let at = start;
    while (at !== none && colour[at] === 0) {
      colour[at] = start + 1;
      at = parents[at] ?? none;
    }
    if (at === none || colour[at] !== start + 1) continue;
    let latest = at;
    for (let step = parents[at] ?? none; step !== at; step = parents[step] ?? none) latest = Math.max(latest, step);
    parents[latest] = latest > 0 && !reaches(latest - 1, latest, parents) ? latest - 1 : none;
    broken.push(latest);
  }
}

function reaches(from: number, to: number, parents: Int32Array): boolean {
  let at = from;
  for (let steps = 0; at !== none && steps <= parents.length; steps += 1) {
    if (at === to) return true;
    at = parents[at] ?? none;
  }
  return false;
}

function mainPath(nodes: readonly TreeNode[], parents: Int32Array): Uint8Array {
  const main = new Uint8Array(nodes.length);
  const hasChild = new Uint8Array(nodes.length);
  for (const parent of parents) if (parent !== none) hasChild[parent] = 1;
  let leaf = none;
  for (let position = nodes.length - 1; position >= 0 && leaf === none; position -= 1) {
    if (hasChild[position] === 0) leaf = position;
  }
  for (let at = leaf; at !== none; at = parents[at] ?? none) main[at] = 1;
  return main;
}

function nameBranches(
  nodes: readonly TreeNode[],
  parents: Int32Array,
  main: Uint8Array,
  branches: Map<number, string>,
): void {
  const names = new Map<number, string>();
  const rootOf = new Int32Array(nodes.length).fill(none);
  for (const [position, node] of nodes.entries()) {
    if (main[position] === 1) continue;
    const root = branchRoot(position, parents, main, rootOf);
    if (node.message === null || branches.has(node.message)) continue;
    const name = names.get(root) ?? `b${names.size + 1}`;
    names.set(root, name);
    branches.set(node.message, name);
  }
}

/** The first node off the main path on the way up; remembered, for parents mostly come first. */
function branchRoot(position: number, parents: Int32Array, main: Uint8Array, rootOf: Int32Array): number {
  const walked: number[] = [];
  let at = position;
  let root = position;
  while (true) {
    const known = rootOf[at] ?? none;
    if (known !== none) {
      root = known;
      break;
    }
    walked.push(at);
    const parent = parents[at] ?? none;
    if (parent === none || main[parent] === 1) {
      root = at;
      break;
    }
    at = parent;
  }
  for (const step of walked) rootOf[step] = root;
  return root;
}

/** Rows of messages above each message: the nearest node up the path that belongs to another message. */
function messageParents(nodes: readonly TreeNode[], parents: Int32Array): Map<number, number | null> {
  const above = new Map<number, number | null>();
  for (const [position, node] of nodes.entries()) {
    if (node.message === null || above.has(node.message)) continue;
    let at = parents[position] ?? none;
    while (at !== none && (nodes[at]?.message ?? node.message) === node.message) at = parents[at] ?? none;
    above.set(node.message, at === none ? null : (nodes[at]?.message ?? null));
  }
  return above;
}
