import { fakeClock } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { holdLock, tamper } from "./processes.ts";
import { caller, dataOf, errorOf, setting } from "./setting.ts";

const idIn = (text: string): string => /mem_\w{26}/.exec(text)?.[0] ?? "no id in the text";

describe("a memory's life, by what the texts say", () => {
  it("is written, listed, read, changed, recalled, forgotten and restored with ids taken from texts only", async () => {
    const { call } = setting();
    const texts: string[] = [];
    const say = async (tool: string, input: Record<string, unknown>) => {
      const result = await call(tool, input);
      expect(result.ok, result.text).toBe(true);
      texts.push(result.text);
      return result.text;
    };
    const written = idIn(await say("memory_write", { title: "Deploy day", content: "We deploy on Tuesday" }));
    const listed = idIn(await say("memory_list", {}));
    expect(listed).toBe(written);
    expect(await say("memory_get", { id: listed })).toContain("We deploy on Tuesday");
    expect(await say("memory_update", { id: listed, content: "We deploy on Thursday", tags: ["ops"] })).toBe(
      `Updated ${listed} to version 2: content, tags.`,
    );
    const recalled = await say("memory_recall", { query: "when do we deploy?" });
    expect(recalled).toContain("Thursday");
    const forgot = await say("memory_forget", { id: idIn(recalled) });
    const undo = /To undo: (?<tool>\w+) with id (?<id>mem_\w{26}) and restore (?<restore>true)/.exec(forgot)?.groups;
    expect(await say("memory_recall", { query: "deploy" })).toBe("No memories yet in scope both.");
    await say(undo?.tool ?? "", { id: undo?.id, restore: undo?.restore === "true" });
    expect(idIn(await say("memory_recall", { query: "Thursday" }))).toBe(written);
    const again = await say("memory_forget", { id: written, restore: true });
    expect(again).toMatch(/^Already live: mem_/);
  });

  it("of three that follow each other, the last is live, and each step back names the next one to take", async () => {
    const { call, R } = setting();
    const write = async (content: string, supersedes?: string) => {
      const result = await call("memory_write", { title: "Port", content, ...(supersedes && { supersedes }) });
      expect(result.ok, result.text).toBe(true);
      return idIn(result.text);
    };
    const first = await write("Postgres on 5432");
    const second = await write("Postgres on 6432", first);
    const third = await write("Postgres on 7432", second);
    expect(await R("postgres")).toHaveLength(1);
    const late = errorOf(await call("memory_write", { title: "Port", content: "Postgres on 8432", supersedes: first }));
    expect(late).toMatchObject({ code: "conflict", message: `${first} is superseded` });
    expect(late.hint).toContain(third);
    expect(errorOf(await call("memory_update", { id: second, content: "x" })).hint).toContain(third);
    const early = errorOf(await call("memory_forget", { id: second, restore: true }));
    expect(early).toMatchObject({ code: "conflict", hint: `forget ${third} first` });
    const forgot = await call("memory_forget", { id: third, reason: "wrong host" });
    expect(forgot.text).toContain(`It had replaced ${second}`);
    expect(dataOf(await call("memory_get", { id: third, include_history: true })).history).toMatchObject([
      { kind: "write" },
      { kind: "forget", before: { reason: "wrong host" } },
    ]);
    expect(dataOf(await call("memory_forget", { id: second, restore: true }))).toMatchObject({
      memory: { id: second, state: "live" },
      already: false,
    });
    expect(await R("6432")).toEqual(["Port"]);
  });

  it("another scope's memory cannot be replaced, a foreign one is as if it never was", async () => {
    const { call, W } = setting();
    const shared = await W("Port", "Postgres on 5432");
    expect(
      errorOf(await call("memory_write", { title: "Port", content: "6432", scope: "role", supersedes: shared })),
    ).toMatchObject({ code: "conflict", message: `${shared} is in scope workspace` });
    const foreign = await W("Port", "mine", { scope: "role" }, { agent: "a" });
    const guess = { title: "Port", content: "x", scope: "role" };
    expect(await call("memory_write", { ...guess, supersedes: foreign }, { agent: "b" })).toEqual(
      await call("memory_write", { ...guess, supersedes: `mem_${"0".repeat(26)}` }, { agent: "b" }),
    );
  });

  it("written again with other values says which differ and how to change them; a near one is named as similar", async () => {
    const { call, W } = setting();
    const id = await W("Cache", "The cache lives for ten minutes in production", { category: "fact", tags: ["a"] });
    const again = await call("memory_write", {
      title: "  CACHE ",
      content: "the cache lives for  ten minutes in production",
      scope: "workspace",
      category: "decision",
      relevance: "high",
      tags: ["b"],
      about: ["Redis"],
    });
    expect(dataOf(again)).toMatchObject({
      status: "duplicate",
      differs: ["category", "relevance", "tags", "about"],
      memory: { id },
    });
    expect(again.text).toContain(`memory_update with id ${id} and category, relevance, tags, about`);
    const near = await call("memory_write", {
      title: "Cache",
      content: "The cache lives for twenty minutes in production",
      scope: "workspace",
    });
    expect(dataOf(near)).toMatchObject({ status: "stored", similar: [{ id, title: "Cache" }] });
    expect(near.text).toMatch(new RegExp(`Similar: ${id} "Cache" \\(0\\.[6-9]\\d\\)\\..*memory_write with supersedes`));
    const far = dataOf(await call("memory_write", { title: "Tea", content: "Green at four", scope: "workspace" }));
    expect(far.similar).toEqual([]);
  });

  it("two folders and two agents of one family are kept apart", async () => {
    const { family, W, R, call } = setting();
    await W("here", "zebra one", { scope: "role" });
    expect(await R("zebra", {}, { agent: "other" })).toEqual([]);
    const elsewhere = caller(family, setting().directory);
    expect(dataOf(await elsewhere("memory_recall", { query: "zebra" })).hits).toEqual([]);
    await elsewhere("memory_write", { title: "there", content: "zebra two", scope: "role" });
    expect(dataOf(await call("memory_list", {})).memories).toMatchObject([{ title: "here" }]);
  });
});

describe("uses", () => {
  const usesOf = async (call: ReturnType<typeof setting>["call"]) =>
    (dataOf(await call("memory_list", {})).memories as { uses: number; lastUsedAt: string | null }[])[0];

  it("are counted after a recall and a get, not after a list, and not at all where the host says so", async () => {
    const clock = fakeClock(Date.parse("2026-05-01T00:00:00Z"));
    const { W, R, call, path } = setting({ clock });
    const id = await W("a", "zebra");
    expect(await usesOf(call)).toMatchObject({ uses: 0, lastUsedAt: null });
    await usesOf(call);
    expect(await usesOf(call)).toMatchObject({ uses: 0 });
    clock.advance(86_400_000);
    await R("zebra");
    await call("memory_get", { id });
    expect(await usesOf(call)).toMatchObject({ uses: 2, lastUsedAt: "2026-05-02T00:00:00.000Z" });
    const quiet = setting({ path, clock, recordUse: false });
    await quiet.R("zebra");
    expect(await usesOf(call)).toMatchObject({ uses: 2 });
  });

  it("that cannot be counted fail neither recall nor get, and nothing is counted later", async () => {
    const { W, R, call, path } = setting();
    const id = await W("a", "zebra");
    const release = await holdLock(path);
    expect(await R("zebra")).toEqual(["a"]);
    expect(dataOf(await call("memory_get", { id })).content).toBe("zebra");
    await release();
    expect(await tamper(path, "SELECT count(*) AS n FROM memory_uses")).toEqual([{ n: 0 }]);
  });
});
