import { describe, expect, it } from "vitest";
import { recordSession } from "../src/index.ts";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, usage, writeClaude } from "./hosts.ts";

const desk = useDesk();
const say = (text: string) => [{ type: "text", text }];
type Hit = {
  messageId: string;
  sessionId: string;
  part: string;
  excerpt: string;
  marks: [number, number][];
  allTerms: boolean;
};
const search = (query: string, input: object = {}) =>
  desk.data("session_search", { query, source: "claude-code", ...input });
const found = async (query: string, input: object = {}) =>
  (await search(query, input)).hits.map(({ messageId }: Hit) => messageId);
const marked = ({ excerpt, marks }: Hit) => marks.map(([from, to]) => [...excerpt].slice(from, to).join(""));

/** A session of prompts, each under its own name. */
async function prompts(texts: Record<string, string>, id = claudeId, cwd = desk.directory): Promise<void> {
  const make = claudeLines(cwd, id);
  let parent: string | null = null;
  const records = Object.entries(texts).map(([uuid, text]) => {
    const line = make.prompt({ uuid, parent }, text);
    parent = uuid;
    return line;
  });
  await writeClaude(desk.claude, records, id);
}

describe("words", () => {
  it("rank before the order of files: the best comes first, those with fewer words last", async () => {
    const filler = "much about something else that goes on and on for a while";
    await prompts(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, `${filler} timeout ${n}`])));
    await prompts(
      { both: `billing timeout: ${filler}`, best: "billing timeout" },
      "47642f0f-1b2b-4afa-820b-3201c6b86306",
    );
    const { hits } = await search("billing timeout", { limit: 100 });
    expect(hits.slice(0, 2).map(({ messageId }: Hit) => messageId)).toEqual(["best", "both"]);
    expect(hits.map(({ allTerms }: Hit) => allTerms)).toEqual(hits.map((_: Hit, n: number) => n < 2));
    expect(hits).toHaveLength(32);
  });

  it("of every script, folded, emoji and what is glued together are found, with marks on them", async () => {
    await prompts({
      cjk: "整理了设备清单并归档",
      glued: "重跑gen-itgc后恢复正常",
      kana: "サンドボックスの設定を変更した",
      turkish: "İİİ needle ﬁnal",
      emoji: "ship it 🚀 today",
      family: "a 👩‍👩‍👧 here",
      code: "renamed to parseLine in src/a.ts",
    });
    for (const [query, id, mark] of [
      ["设备", "cjk", "设备"],
      ["itgc", "glued", "itgc"],
      ["設定", "kana", "設定"],
      ["NEEDLE", "turkish", "needle"],
      ["final", "turkish", "ﬁnal"],
      ["🚀", "emoji", "🚀"],
      ["👩‍👩‍👧", "family", "👩‍👩‍👧"],
      ["parseline", "code", "parseLine"],
    ] as const) {
      const { hits } = await search(query);
      expect([query, hits[0]?.messageId]).toEqual([query, id]);
      expect(marked(hits[0])).toContain(mark);
    }
  });

  it("in quotes are a demand, as written; case counts when it is asked to", async () => {
    await prompts({ a: "port is open to all", b: "Open the port", c: "open the port", d: "x => y" });
    expect((await found('"open the port"')).sort()).toEqual(["b", "c"]);
    expect(await found('"Open the port"', { case_sensitive: true })).toEqual(["b"]);
    expect(await found("Open", { case_sensitive: true })).toEqual(["b"]);
    expect(await found('"=>"')).toEqual(["d"]);
    expect(await found("=>")).toEqual(["d"]);
    expect(await found('"')).toEqual([]);
    expect((await found('open the "port')).length).toBeGreaterThan(0);
  });
});

describe("parts", () => {
  async function parts(): Promise<void> {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.answer(
        { uuid: "u1" },
        {
          id: "m1",
          content: [
            { type: "thinking", thinking: "aardvark thoughts" },
            ...say("badger text"),
            ...say("badger again"),
            { type: "tool_use", id: "t1", name: "Grep", input: { pattern: "civet" } },
          ],
          usage: usage(1, 1),
        },
      ),
      make.result({ uuid: "r1", parent: "u1" }, "t1", "dingo_found => here"),
    ]);
  }
  it("are searched when they are asked for, one hit for a message and a part", async () => {
    await parts();
    expect(await found("aardvark")).toEqual([]);
    expect((await search("aardvark", { include_thinking: true })).hits).toMatchObject([{ part: "thinking" }]);
    expect((await search("badger")).hits).toMatchObject([{ part: "text", more: 1 }]);
    expect((await search("civet")).hits).toMatchObject([{ part: "tool_input", tool: "Grep" }]);
    const none = await desk.call("session_search", { query: "dingo_found" });
    expect(none.text).toContain('"include_tool_output":true');
    expect((await search("dingo_found", { include_tool_output: true })).hits).toMatchObject([
      { part: "tool_output", tool: "Grep" },
    ]);
    expect((await desk.call("session_search", { query: "nowhere", include_tool_output: true })).text).not.toContain(
      "were not searched",
    );
  });

  it("a literal is found without a word, within a word, in any case, in outputs when they are asked for", async () => {
    await parts();
    await prompts({ arrow: "a => b", word: "renamed to parseLine today" }, "47642f0f-1b2b-4afa-820b-3201c6b86306");
    const literal = { match: "literal" };
    expect(await found("=>", literal)).toEqual(["arrow"]);
    expect((await found("=>", { ...literal, include_tool_output: true })).sort()).toEqual(["arrow", "m1"]);
    expect(await found("ARSELIN", literal)).toEqual(["word"]);
    expect(await found("ARSELIN", { ...literal, case_sensitive: true })).toEqual([]);
    expect(await found("line renamed", literal)).toEqual([]);
    expect(await found("ngo_fou", { ...literal, include_tool_output: true })).toEqual(["m1"]);
  });
});

describe("pages", () => {
  it("of ranked and scanned hits join without gap or repeat", async () => {
    const make = claudeLines(desk.directory);
    const records: object[] = [];
    for (let n = 0; n < 12; n += 1) {
      records.push(
        make.answer(
          { uuid: `a${n}` },
          {
            id: `m${n}`,
            content: [
              ...(n % 2 === 0 ? say(`zebra ${n}`) : []),
              { type: "tool_use", id: `t${n}`, name: "Bash", input: {} },
            ],
            usage: usage(1, 1),
          },
        ),
        make.result({ uuid: `r${n}`, parent: `a${n}` }, `t${n}`, `a zebra in output ${n}`),
      );
    }
    await writeClaude(desk.claude, records);
    const seen: string[] = [];
    for (let cursor: string | null | undefined, calls = 0; cursor !== null && calls < 30; calls += 1) {
      const page: { hits: Hit[]; nextCursor: string | null } = await search("zebra", {
        include_tool_output: true,
        limit: 5,
        ...(cursor && { cursor }),
      });
      seen.push(...page.hits.map(({ messageId, part }) => `${messageId} ${part}`));
      cursor = page.nextCursor;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(6 + 12);
    expect(seen.slice(0, 6).every((hit) => hit.endsWith(" text"))).toBe(true);
  });

  it("go over all stores; role, dates, order and session narrow them", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1", at: "2026-03-01T23:30:00.000Z" }, "quagga one"),
      make.answer(
        { uuid: "u2", parent: "u1", at: "2026-03-02T00:30:00.000Z" },
        { id: "m1", content: say("quagga two"), usage: usage(1, 1) },
      ),
    ]);
    await using writer = await recordSession({ directory: desk.directory, title: "Recorded" });
    await writer.append({
      id: "own",
      role: "user",
      at: "2026-03-05T00:00:00.000Z",
      parts: [{ kind: "text", text: "quagga three" }],
    });
    await writer.flush();
    const all = async (input: object = {}) =>
      (await desk.data("session_search", { query: "quagga", ...input })).hits.map(({ messageId }: Hit) => messageId);
    expect((await all()).sort()).toEqual(["m1", "own", "u1"]);
    expect(await all({ sort: "recent" })).toEqual(["own", "m1", "u1"]);
    expect(await all({ sort: "recent", limit: 1 })).toEqual(["own"]);
    expect(await all({ role: "assistant" })).toEqual(["m1"]);
    expect((await all({ from_date: "2026-03-02" })).sort()).toEqual(["m1", "own"]);
    expect(await all({ to_date: "2026-03-01" })).toEqual(["u1"]);
    expect((await all({ session_id: claudeId })).sort()).toEqual(["m1", "u1"]);
    desk.open({ timeZone: "Europe/Berlin" });
    expect((await desk.call("session_search", { query: "quagga one" })).text).toContain("2026-03-02");
  });

  it("a cursor of another search is refused", async () => {
    await prompts({ a: "zebra one", b: "zebra two" });
    const { nextCursor } = await search("zebra", { limit: 1 });
    expect(
      await desk.call("session_search", { query: "other", source: "claude-code", cursor: nextCursor }),
    ).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    expect(await desk.call("session_list", { cursor: nextCursor })).toMatchObject({
      ok: false,
      error: { code: "invalid_input" },
    });
  });
});

describe("lists", () => {
  const listed = async (input: object = {}) =>
    (await desk.data("session_list", input)).sessions.map(({ title }: { title: string }) => title);
  const at = async (n: number, from: string, to: string) => {
    const id = `0000000${n}-0000-4000-8000-000000000000`;
    const make = claudeLines(desk.directory, id);
    await writeClaude(
      desk.claude,
      [make.prompt({ uuid: "a", at: from }, `s${n}`), make.prompt({ uuid: "b", parent: "a", at: to }, "more")],
      id,
    );
  };
  it("hold sessions active in the range, whole days in the time zone, both ends inclusive", async () => {
    await at(1, "2026-03-01T23:59:59.999Z", "2026-03-01T23:59:59.999Z");
    await at(2, "2026-03-02T00:00:00.000Z", "2026-03-02T00:00:00.000Z");
    await at(3, "2026-03-02T23:59:59.999Z", "2026-03-02T23:59:59.999Z");
    await at(4, "2026-03-03T00:00:00.000Z", "2026-03-03T00:00:00.000Z");
    await at(5, "2026-02-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z");
    const day = { from_date: "2026-03-02", to_date: "2026-03-02" };
    expect(await listed(day)).toEqual(["s5", "s3", "s2"]);
    expect(await listed({ from_date: "2026-03-03" })).toEqual(["s5", "s4"]);
    expect(await listed({ to_date: "2026-03-01" })).toEqual(["s1", "s5"].reverse());
    expect(await listed({ from_date: "2026-03-02T23:59:59.999Z", to_date: "2026-03-02T23:59:59.999Z" })).toEqual([
      "s5",
      "s3",
    ]);
    desk.open({ timeZone: "Europe/Berlin" });
    expect(await listed(day)).toEqual(["s5", "s2", "s1"]);
    desk.open({ timeZone: "America/New_York" });
    expect(await listed(day)).toEqual(["s5", "s4", "s3"]);
    expect((await desk.call("session_list", day)).text).toContain("Times in America/New_York");
  });

  it("have the newest first, and pages over several stores without gap or repeat", async () => {
    for (let n = 1; n <= 5; n += 1) await at(n, `2026-03-0${n}T00:00:00.000Z`, `2026-03-0${n}T01:00:00.000Z`);
    for (const day of [2, 4]) {
      await using writer = await recordSession({ directory: desk.directory, title: `r${day}` });
      await writer.append({
        id: "m",
        role: "user",
        at: `2099-03-0${day}T00:30:00.000Z`,
        parts: [{ kind: "text", text: "x" }],
      });
    }
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { sessions: { title: string }[]; nextCursor: string | null; total: number } = await desk.data(
        "session_list",
        { limit: 2, ...(cursor && { cursor }) },
      );
      expect(page.total).toBe(7);
      seen.push(...page.sessions.map(({ title }) => title));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(["r4", "r2", "s5", "s4", "s3", "s2", "s1"]);
  });

  it("titles with bars, line breaks and backticks parse back as one row each", async () => {
    const titles = ["a|b", "line\nbreak", "`code` | \\| end", "<b>x</b>", "\u202Eevil\u0007"];
    for (const title of titles)
      await (await recordSession({ directory: desk.directory, title }))[Symbol.asyncDispose]();
    const { text } = await desk.call("session_list", {});
    const rows = text
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(1);
    expect(rows).toHaveLength(titles.length);
    for (const row of rows) expect(row.replaceAll(/\\./g, "").split("|")).toHaveLength(7);
    expect(text).not.toMatch(/[\u202e\u0007]/);
  });
});
