import assert from "node:assert/strict";
import { type ContractCase, listOf, project, type RecordingStore, recorded, user } from "./setting.ts";

/** Times of sessions are the store's own; messages of later days move the last of them. */
const day = (n: number) => `2099-03-${String(n).padStart(2, "0")}T12:00:00.000Z`;

async function idsListed(store: RecordingStore, more: Parameters<typeof listOf>[1] = {}): Promise<string[]> {
  return (await listOf(store, more)).items.map(({ id }) => id);
}

export function listingCases(): ContractCase[] {
  return [
    {
      title: "a list has the newest update first, ties by id, and its pages have no gap and no repeat",
      async run({ store }) {
        const expected: string[] = [];
        for (const [id, at] of [
          ["b", 5],
          ["a", 5],
          ["z", 9],
          ["m", 1],
          ["c", 5],
        ] as const)
          await recorded(store, { id }, [user("m", id, { at: day(at) })]);
        expected.push("z", "a", "b", "c", "m");
        assert.deepEqual(await idsListed(store), expected);
        const paged: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await listOf(store, { limit: 2, ...(cursor !== undefined && { cursor }) });
          assert.equal(page.total, 5);
          paged.push(...page.items.map(({ id }) => id));
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
          // What is updated meanwhile has been shown or moves to the first page: nothing is shown twice.
          if (paged.length === 2) await recorded(store, { id: "z" }, [user("m2", "again", { at: day(20) })]);
        }
        assert.deepEqual(paged, expected);
      },
    },
    {
      title: "a session belongs by component of its path; of all others only the number is told",
      async run({ store }) {
        await recorded(store, { id: "here", directory: "/w/app" }, []);
        await recorded(store, { id: "below", directory: "/w/app/packages/x" }, []);
        await recorded(store, { id: "beside", directory: "/w/application" }, []);
        await recorded(store, { id: "above", directory: "/w" }, []);
        await recorded(store, { id: "pattern", directory: "/w/a_p/%" }, []);
        const page = await listOf(store, { directories: [project] });
        assert.deepEqual(
          [page.items.map(({ id }) => id).sort(), page.total, page.elsewhere],
          [["below", "here"], 2, 3],
        );
        assert.deepEqual((await idsListed(store, { directories: ["/w/a_p"] })).sort(), ["pattern"]);
        assert.deepEqual((await idsListed(store, { directories: ["/w/application", "/w/app/packages"] })).sort(), [
          "below",
          "beside",
        ]);
        assert.equal((await listOf(store, { directories: "all" })).total, 5);
        assert.equal((await listOf(store, { directories: ["/"] })).total, 5);
        assert.deepEqual(await idsListed(store, { directories: [] }), []);
      },
    },
    {
      title: "sessions of a range were active in it, both ends inclusive",
      async run({ store }) {
        await recorded(store, { id: "a" }, [user("m", "a", { at: day(1) })]);
        await recorded(store, { id: "b" }, [user("m", "b", { at: day(3) })]);
        assert.deepEqual(await idsListed(store, { from: Date.parse(day(3)) }), ["b"]);
        assert.deepEqual(await idsListed(store, { from: Date.parse(day(3)) + 1 }), []);
        // They were made before any of these days.
        assert.deepEqual(await idsListed(store, { to: Date.parse(day(1)) }), ["b", "a"]);
        assert.deepEqual(await idsListed(store, { to: Date.parse("2020-01-01T00:00:00Z") }), []);
      },
    },
    {
      title: "subagents are listed only when they are asked for, forks always",
      async run({ store }) {
        await recorded(store, { id: "parent" }, [user("m1", "one", { at: day(1) })]);
        await recorded(store, { id: "child", parent: "parent" }, [user("m1", "two", { at: day(2) })]);
        const page = await listOf(store);
        assert.deepEqual([page.items.map(({ id }) => id), page.total, page.elsewhere], [["parent"], 1, 0]);
        const all = await listOf(store, { includeChildren: true });
        assert.deepEqual([all.items.map(({ id }) => id), all.total], [["child", "parent"], 2]);
      },
    },
  ];
}
