import { runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace } from "../src/index.ts";
import { run, scenarios } from "./fixtures/scenarios.mjs";
import {
  callsOf,
  expectNothingLeft,
  inTurns,
  type KillOrder,
  newPlace,
  recoverHere,
  runChild,
  treeOf,
} from "./kills.ts";

/** Enough for every call of every scenario, and then some; `npm test` takes a twentieth, evenly spread. */
const FULL = 760;

/** All kills that the long suite makes, in an order that spreads a part of them over all. */
async function allOrders(): Promise<KillOrder[]> {
  const orders: KillOrder[] = [];
  for (const fsync of [false, true]) {
    for (const scenario of Object.keys(scenarios)) {
      const { length } = await callsOf(scenario, fsync);
      for (let killAt = 1; killAt <= length; killAt++) orders.push({ scenario, killAt, fsync });
    }
  }
  return orders;
}

function spread<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: Math.min(count, items.length) }, (_, k) => items[Math.floor(k * step)]).filter(
    (item) => item !== undefined,
  );
}

async function newTree(scenario: string): Promise<{ old: string; next: string }> {
  await using place = await newPlace();
  const old = treeOf(place.root);
  await using workspace = createWorkspace({ ...place, fsync: false, undo: { commits: 0 } });
  await run(workspace, place.root, scenario);
  return { old, next: treeOf(place.root) };
}

describe("a process killed at any file-system call", () => {
  it("leaves a commit all old or all new after the next use, and nothing else", { timeout: 1_800_000 }, async () => {
    const trees = new Map<string, { old: string; next: string }>();
    for (const scenario of Object.keys(scenarios)) trees.set(scenario, await newTree(scenario));
    const orders = spread(await allOrders(), runs(FULL));
    const outcomes = { old: 0, new: 0 };
    await inTurns(orders, async (order) => {
      await using place = await newPlace();
      expect(await runChild(place, order), JSON.stringify(order)).toBeUndefined();
      await recoverHere(place);
      const { old, next } = trees.get(order.scenario) ?? { old: "", next: "" };
      const tree = treeOf(place.root);
      expect([old, next], JSON.stringify(order)).toContain(tree);
      expectNothingLeft(place);
      outcomes[tree === old ? "old" : "new"]++;
    });
    expect(outcomes.old).toBeGreaterThan(0);
    expect(outcomes.new).toBeGreaterThan(0);
  });
});
