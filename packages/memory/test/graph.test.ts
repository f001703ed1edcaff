import { join } from "node:path";
import { createId } from "@toolhaft/core";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKnowledge, type ExportRecord, sqliteMemoryStore } from "../src/index.ts";
import { type Call, caller, closeAfterTest, dataOf, errorOf, temporaryFolder } from "./setting.ts";

interface Node {
  id: string;
  name: string;
  depth: number;
  via: string | null;
}
interface Edge {
  id: string;
  from: string;
  to: string;
  type: string;
  weight: number;
}
interface Found {
  start: Node;
  nodes: Node[];
  edges: Edge[];
  truncated: boolean;
  depthReached: number;
}

const opened = (directory = temporaryFolder()): Call => caller(closeAfterTest(createKnowledge()), directory);
const query = async (call: Call, input: Record<string, unknown>) =>
  dataOf(await call("knowledge_query", input)) as unknown as Found;
const add = async (call: Call, name: string, more: Record<string, unknown> = {}) =>
  dataOf(await call("knowledge_add_entity", { name, type: "t", ...more })) as { entity: Node; created: boolean };
const relate = async (call: Call, from: string, to: string, more: Record<string, unknown> = {}) =>
  dataOf(await call("knowledge_add_relation", { from, to, type: "next", ...more })) as {
    edge: Edge;
    created: boolean;
    createdEntities: string[];
  };

/** Fills a graph at once, by way of import; edges are numbers of nodes. */
async function load(
  path: string,
  names: readonly string[],
  edges: readonly { from: number; to: number; type: string; weight: number }[],
): Promise<void> {
  const store = sqliteMemoryStore({ path });
  const owner = { workspace: ".", agent: "main", createdAt: 0, updatedAt: 0, removedAt: null };
  const ids = names.map(() => `ent_${createId(0)}`);
  const records: ExportRecord[] = [
    ...names.map((name, n) => ({
      type: "entity" as const,
      value: { ...owner, id: ids[n] ?? "", name, type: "t", attributes: {} },
    })),
    ...edges.map(({ from, to, ...edge }) => ({
      type: "edge" as const,
      value: { ...owner, ...edge, id: `rel_${createId(0)}`, from: ids[from] ?? "", to: ids[to] ?? "" },
    })),
  ];
  for (let at = 0; at < records.length; at += 2_000)
    await store.load(records.slice(at, at + 2_000), { onConflict: "skip" });
  await store[Symbol.asyncDispose]();
}

/** Follows `via` back to the start; every step must be one of the returned edges. */
function wayBack(found: Found, node: Node): string[] {
  const byId = new Map(found.nodes.map((one) => [one.id, one]));
  const way = [node.id];
  for (let at = node; at.via !== null; ) {
    const edge = found.edges.find(({ id }) => id === at.via);
    expect(edge, `via of ${at.name}`).toBeDefined();
    const ends = [edge?.from, edge?.to].filter((id) => id !== at.id || edge?.from === edge?.to);
    const before = ends.map((id) => byId.get(id ?? "")).find((one) => one?.depth === at.depth - 1);
    if (!before) throw new Error(`via of ${at.name} comes from no node one step nearer`);
    at = before;
    way.unshift(at.id);
  }
  return way;
}

it(`P12: a query equals brute force on ${runs(1_000)} random graphs, by direction, types and depth`, {
  timeout: 300_000,
}, async () => {
  const edge = fc.record({
    from: fc.nat(8),
    to: fc.nat(8),
    type: fc.constantFrom("uses", "owns", "Ünit", "needs"),
    weight: fc.constantFrom(0, 0.5, 1, 2),
  });
  const directory = temporaryFolder();
  const call = opened(directory);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(edge, { maxLength: 25 }),
      fc.nat(5),
      fc.constantFrom("out", "in", "both"),
      fc.option(fc.uniqueArray(fc.constantFrom("USES", "owns", "ünit", "nothing"), { maxLength: 3 }), {
        nil: undefined,
      }),
      async (given, depth, direction, filter) => {
        const name = (n: number) => `n${n} of ${round}`;
        round++;
        await load(
          join(directory, ".toolhaft", "memory.db"),
          Array.from({ length: 9 }, (_, n) => name(n)),
          given,
        );
        const wanted = filter && filter.length > 0 ? new Set(filter.map((type) => type.toLowerCase())) : null;
        const edges = new Map(
          given
            .filter(({ type }) => wanted === null || wanted.has(type.toLowerCase()))
            .map((one) => [`${one.from} ${one.to} ${one.type}`, one]),
        );
        const distance = new Map([[0, 0]]);
        for (let step = 0; step < depth; step++)
          for (const { from, to } of edges.values())
            for (const [a, b] of [
              ...(direction === "in" ? [] : [[from, to] as const]),
              ...(direction === "out" ? [] : [[to, from] as const]),
            ])
              if (distance.get(a) === step && !distance.has(b)) distance.set(b, step + 1);
        const found = await query(call, {
          start: name(0),
          depth,
          direction,
          limit: 1_000,
          ...(filter && { relation_filter: filter }),
        });
        expect(new Map(found.nodes.map((node) => [node.name, node.depth]))).toEqual(
          new Map([...distance].map(([n, steps]) => [name(n), steps])),
        );
        const nameOf = new Map(found.nodes.map((node) => [node.id, node.name]));
        const between = [...edges.values()].filter(
          ({ from, to }) => depth > 0 && distance.has(from) && distance.has(to),
        );
        expect(found.edges.map(({ from, to, type }) => `${nameOf.get(from)} ${nameOf.get(to)} ${type}`).sort()).toEqual(
          between.map(({ from, to, type }) => `${name(from)} ${name(to)} ${type}`).sort(),
        );
        expect(found.truncated).toBe(false);
        expect(found.depthReached).toBe(Math.max(...distance.values()));
        for (const node of found.nodes) expect(wayBack(found, node)).toHaveLength(node.depth + 1);
      },
    ),
    { numRuns: runs(1_000) },
  );
});

describe("a query", () => {
  it("goes by weight, then by name, within a level, and cuts at the limit", async () => {
    const call = opened();
    for (const name of ["hub", "light", "b", "a", "heavy"]) await add(call, name);
    await relate(call, "hub", "light", { weight: 0.1 });
    for (const name of ["b", "a"]) await relate(call, "hub", name);
    await relate(call, "hub", "heavy", { weight: 7 });
    const names = async (limit: number) => {
      const { nodes, truncated } = await query(call, { start: "hub", limit });
      return [nodes.map(({ name }) => name).join(" "), truncated];
    };
    expect(await names(5)).toEqual(["hub heavy a b light", false]);
    expect(await names(4)).toEqual(["hub heavy a b", true]);
    expect(await names(1)).toEqual(["hub", true]);
    expect((await call("knowledge_query", { start: "hub", limit: 3 })).text).toContain("raise limit (now 3)");
  });

  it("gives the shortest way to each node, by the heaviest edge of the first step that reaches it", async () => {
    const call = opened();
    for (const name of ["a", "b", "c", "d"]) await add(call, name);
    await relate(call, "a", "b", { weight: 9 });
    await relate(call, "b", "c", { weight: 9 });
    const short = await relate(call, "a", "c", { weight: 0.1 });
    const strong = await relate(call, "a", "c", { type: "strong", weight: 0.2 });
    await relate(call, "c", "d");
    const found = await query(call, { start: "a", depth: 10 });
    const c = found.nodes.find(({ name }) => name === "c");
    expect(c).toMatchObject({ depth: 1, via: strong.edge.id });
    expect(short.edge.id).not.toBe(strong.edge.id);
    const d = found.nodes.find(({ name }) => name === "d");
    expect(d && wayBack(found, d)).toHaveLength(3);
  });

  it("ends on cycles and self-edges, and depth 0 gives the start alone", async () => {
    const call = opened();
    for (const name of ["a", "b", "c"]) await add(call, name);
    for (const [from, to] of ["ab", "bc", "ca", "aa"].map(([from = "", to = ""]) => [from, to] as const))
      expect((await relate(call, from, to)).created).toBe(true);
    const all = await query(call, { start: "a", depth: 10 });
    expect(all.nodes.map(({ name, depth }) => `${name}${depth}`)).toEqual(["a0", "b1", "c2"]);
    expect(all).toMatchObject({ truncated: false, depthReached: 2 });
    expect(all.edges).toHaveLength(4);
    expect(await query(call, { start: "a", depth: 0 })).toMatchObject({
      nodes: [{ name: "a" }],
      edges: [],
      depthReached: 0,
    });
  });

  it("of a hub of 100,000 edges ends within the limit, in every direction and by type", {
    timeout: 240_000,
  }, async () => {
    const directory = temporaryFolder();
    const count = runs(100_000);
    const names = ["hub", ...Array.from({ length: count }, (_, n) => `leaf ${n}`), "far"];
    await load(join(directory, ".toolhaft", "memory.db"), names, [
      ...Array.from({ length: count }, (_, n) => ({ from: 0, to: n + 1, type: "holds", weight: n === 4_321 ? 2 : 1 })),
      { from: 4_322, to: count + 1, type: "rare", weight: 1 },
      { from: 0, to: count + 1, type: "rare", weight: 0.1 },
    ]);
    const call = opened(directory);
    const found = await query(call, { start: "hub", limit: 1_000, depth: 10 });
    expect(found).toMatchObject({ truncated: true, depthReached: 1 });
    expect(found.nodes).toHaveLength(1_000);
    expect(found.nodes[1]?.name).toBe("leaf 4321");
    // The one edge of a rare type, the lightest of all, is found among the many.
    const rare = await query(call, { start: "hub", relation_filter: ["RARE"], limit: 10 });
    expect(rare.nodes.map(({ name }) => name)).toEqual(["hub", "far"]);
    const back = await query(call, { start: "far", direction: "in", depth: 1, limit: 10 });
    expect(back.nodes.map(({ name }) => name).sort()).toEqual(["far", "hub", "leaf 4321"]);
    const both = await query(call, { start: "leaf 7", direction: "both", depth: 2, limit: 50 });
    expect(both).toMatchObject({ truncated: true });
    expect(both.nodes).toHaveLength(50);
    expect((await call("knowledge_query", { start: "hub", limit: 1_000 })).text.length).toBeLessThanOrEqual(30_000);
  });
});

describe("entities and relations", () => {
  it("of one name with two types are two, and a name alone is then a conflict that lists both", async () => {
    const call = opened();
    const project = await add(call, "Atlas", { type: "project" });
    const book = await add(call, "ATLAS", { type: "book" });
    expect(book).toMatchObject({ created: true, sameName: [{ id: project.entity.id, type: "project" }] });
    for (const [tool, input] of [
      ["knowledge_query", { start: "atlas" }],
      ["knowledge_add_relation", { from: "atlas", to: project.entity.id, type: "t" }],
    ] as const) {
      const error = errorOf(await call(tool, input));
      expect(error).toMatchObject({ code: "conflict", hint: "give the id" });
      for (const part of [project.entity.id, "project", book.entity.id, "book"]) expect(error.message).toContain(part);
    }
    expect((await query(call, { start: book.entity.id })).start.id).toBe(book.entity.id);
  });

  it("again replace the weight of one edge and merge attributes of one entity; the first spelling is shown", async () => {
    const call = opened();
    await add(call, "Ａtlas  One", { attributes: { a: 1, b: { c: 2 }, __proto__: 1 } });
    const again = dataOf(
      await call("knowledge_add_entity", { name: "atlas one", type: "T", attributes: { a: 2, b: null, new: "x" } }),
    );
    expect(again).toMatchObject({
      created: false,
      changed: ["a", "b", "new"],
      entity: { name: "Ａtlas  One", type: "t" },
    });
    expect((again.entity as { attributes: object }).attributes).toEqual({ a: 2, new: "x" });
    expect(await add(call, "atlas one", { attributes: { a: 2 } })).toMatchObject({ created: false, changed: [] });
    await add(call, "b");
    const first = await relate(call, "atlas one", "b", { weight: 1 });
    const second = await relate(call, "ATLAS ONE", "B", { type: "NEXT", weight: 0 });
    expect(second).toMatchObject({ created: false, edge: { id: first.edge.id, weight: 0, type: "next" } });
    // The other way round is another edge.
    expect((await relate(call, "b", "atlas one")).created).toBe(true);
  });

  it("need both ends: a missing one is not found with near names, or made where that is asked for", async () => {
    const call = opened();
    const { entity } = await add(call, "Atlas");
    expect(errorOf(await call("knowledge_add_relation", { from: "Atlas", to: "Atlsa", type: "t" }))).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("to:"),
      hint: expect.stringMatching(/near names: "Atlas".*create_missing/),
    });
    const never = "ent_00000000000000000000000000";
    for (const create_missing of [false, true])
      expect(
        errorOf(await call("knowledge_add_relation", { from: never, to: entity.id, type: "t", create_missing })).code,
      ).toBe("not_found");
    expect(errorOf(await call("knowledge_query", { start: "nothing" })).code).toBe("not_found");
    const made = await relate(call, "Atlas", "Ghost", { create_missing: true });
    expect(made.createdEntities).toHaveLength(1);
    expect((await query(call, { start: "Atlas" })).nodes.map(({ name }) => name)).toEqual(["Atlas", "Ghost"]);
    for (const id of ["mem_00000000000000000000000000", "rel_1", ""])
      expect(errorOf(await call("knowledge_remove", { id })).code).toBe("invalid_input");
    expect(errorOf(await call("knowledge_remove", { id: never })).code).toBe("not_found");
  });

  it("are taken out softly: an entity with its edges, which come back with it; what was taken out before stays out", async () => {
    const call = opened();
    const { entity: a } = await add(call, "a", { attributes: { kept: true } });
    for (const name of ["b", "c"]) await add(call, name);
    const ab = await relate(call, "a", "b");
    const ca = await relate(call, "c", "a");
    const alone = await relate(call, "a", "c");
    const take = async (id: string, restore = false) => dataOf(await call("knowledge_remove", { id, restore }));
    expect(await take(alone.edge.id)).toEqual({ removed: [alone.edge.id], restored: [] });
    const removed = await call("knowledge_remove", { id: a.id });
    expect(dataOf(removed).removed).toEqual([a.id, ...[ab.edge.id, ca.edge.id].sort()]);
    expect(removed.text).toContain(`knowledge_remove with id ${a.id} and restore true`);
    expect(errorOf(await call("knowledge_query", { start: "a" })).code).toBe("not_found");
    expect((await query(call, { start: "c", direction: "both" })).nodes).toHaveLength(1);
    expect(await take(a.id)).toEqual({ removed: [], restored: [] });
    expect(errorOf(await call("knowledge_remove", { id: ab.edge.id, restore: true }))).toMatchObject({
      code: "conflict",
      hint: expect.stringContaining("restore the entity"),
    });
    expect((await take(a.id, true)).restored).toHaveLength(3);
    expect((await query(call, { start: "a", direction: "both" })).edges.map(({ id }) => id).sort()).toEqual(
      [ab.edge.id, ca.edge.id].sort(),
    );
    await take(alone.edge.id, true);
    expect((await query(call, { start: "a" })).edges).toHaveLength(3);
    // Two ends that went one after the other come back in any order, and so does what is between them.
    const { entity: b } = { entity: (await query(call, { start: "b" })).start };
    await take(a.id);
    await take(b.id);
    await take(a.id, true);
    await take(b.id, true);
    expect((await query(call, { start: "a" })).edges.map(({ id }) => id)).toContain(ab.edge.id);
  });
});
