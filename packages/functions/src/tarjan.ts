/**
 * Strongly connected components with a cycle in them: of two or more nodes, or of one with an edge to itself. Each is
 * sorted, and so are they. Without recursion, so that a long chain does no harm.
 *
 * @see Tarjan, "Depth-first search and linear graph algorithms", 1972
 */
export function components(edges: readonly { from: string; to: string }[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    next.set(from, [...(next.get(from) ?? []), to]);
    if (!next.has(to)) next.set(to, []);
  }
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const onStack = new Set<string>();
  const stack: string[] = [];
  const found: string[][] = [];
  for (const root of next.keys()) {
    if (order.has(root)) continue;
    const work: { node: string; at: number }[] = [];
    enter(root);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node } = frame;
      const child = next.get(node)?.[frame.at++];
      if (child === undefined) {
        leave(node);
        work.pop();
        const parent = work.at(-1);
        if (parent) low.set(parent.node, Math.min(lowOf(parent.node), lowOf(node)));
      } else if (!order.has(child)) enter(child);
      else if (onStack.has(child)) low.set(node, Math.min(lowOf(node), order.get(child) ?? 0));
    }
    function enter(node: string): void {
      order.set(node, order.size);
      low.set(node, order.size - 1);
      stack.push(node);
      onStack.add(node);
      work.push({ node, at: 0 });
    }
  }
  return found.sort((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));

  function lowOf(node: string): number {
    return low.get(node) ?? 0;
  }

  /** The first node of a component takes all of it from the stack. */
  function leave(node: string): void {
    if (lowOf(node) !== order.get(node)) return;
    const component: string[] = [];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      onStack.delete(top);
      component.push(top);
      if (top === node) break;
    }
    if (component.length > 1 || next.get(node)?.includes(node)) found.push(component.sort());
  }
}
