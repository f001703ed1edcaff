import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, writeClaude } from "./hosts.ts";
import { writeOpencode } from "./opencode-host.ts";

const desk = useDesk();
const failed = (code: string) => ({ ok: false, error: expect.objectContaining({ code }) });

async function one() {
  const make = claudeLines(desk.directory);
  await writeClaude(
    desk.claude,
    Array.from({ length: 10 }, (_, n) =>
      make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `prompt ${n}`),
    ),
  );
}

describe("bad input", () => {
  it.each([
    ["session_list", { from_date: "yesterday" }],
    ["session_list", { from_date: "2026-03-03", to_date: "2026-03-02" }],
    ["session_list", { limit: 0 }],
    ["session_list", { limit: 101 }],
    ["session_list", { cursor: "nonsense" }],
    ["session_list", { source: "nobody" }],
    ["session_list", { fromDate: "2026-03-02" }],
    ["session_search", { query: "" }],
    ["session_search", { query: "   " }],
    ["session_search", { query: "x", cursor: "W10" }],
    ["session_read", { session_id: claudeId, offset: -1 }],
    ["session_read", { session_id: claudeId, max_chars_per_part: 0 }],
    ["session_read", { session_id: claudeId, role_filter: "robot" }],
    ["session_read", { session_id: "" }],
    ["session_list", { from_date: "2026-13-01" }],
    ["session_search", { query: "x", limit: 0 }],
    ["session_search", { query: "x", limit: 101 }],
    ["session_search", { query: "x".repeat(1_001) }],
    ["session_search", { query: "x", from_date: "2026-03-03", to_date: "2026-03-02" }],
    ["session_read", { session_id: claudeId, max_chars_per_part: 30_001 }],
    ["session_read", { session_id: claudeId, limit: 0 }],
    ["session_read", { session_id: claudeId, part_offset: -1 }],
    ["session_info", { session_id: claudeId, includeChildren: true }],
  ])("%s %o is invalid", async (tool, input) => {
    await one();
    expect(await desk.call(tool, input)).toMatchObject(failed("invalid_input"));
  });

  it.each(["../x", "a/b", "a\0b", "x".repeat(10_240), "2a08d092…", "2a08d092..."])(
    "builds no path from the id %j",
    async (session_id) => {
      await one();
      const result = await desk.call("session_read", { session_id });
      expect(["invalid_input", "not_found"]).toContain(result.ok ? "ok" : result.error.code);
    },
  );

  it.each(["#99", "of-another-session"])("names how many messages there are for %s", async (message_id) => {
    await one();
    const result = await desk.call("session_read", { session_id: claudeId, message_id });
    expect(result).toMatchObject(failed("not_found"));
    expect(result.text).toContain("10 messages");
  });

  it.each(["(", "*", '"', "a OR b", "NEAR(a b)", "^x", "text:x", "x*", "-x", "İ", "\ud83d", "\0"])(
    "searches %j as it is",
    async (query) => {
      await one();
      expect(await desk.call("session_search", { query })).toMatchObject({ ok: true });
    },
  );

  it("passes over what is no transcript", async () => {
    await one();
    const folder = join(desk.claude, "projects", "-w");
    await writeFile(join(folder, "empty.jsonl"), "");
    await mkdir(join(folder, "folder.jsonl"));
    execFileSync("mkfifo", [join(folder, "pipe.jsonl")]);
    await symlink("loop.jsonl", join(folder, "loop.jsonl"));
    await symlink("/etc/passwd", join(folder, "out.jsonl"));
    await writeFile(join(folder, "byte.jsonl"), "{");
    await writeFile(join(folder, "blank.jsonl"), "\n".repeat(100_000));
    await writeFile(join(folder, "nul.jsonl"), Buffer.alloc(1_000));
    await writeFile(join(folder, "wide.jsonl"), Buffer.from('{"type":"user"}\n', "utf16le"));
    await writeFile(join(folder, "deep.jsonl"), `{"type":"user","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`);
    const { sessions } = await desk.data("session_list", {});
    expect(sessions.map(({ id }: { id: string }) => id)).toContain(claudeId);
  });

  const odd: [string, string | Buffer, Record<string, number>, number][] = [
    ["one byte of JSON", "{", { partial_tail: 1 }, 0],
    ["empty lines", "\n".repeat(100_000), {}, 0],
    ["NUL bytes", Buffer.alloc(10_000), { partial_tail: 1 }, 0],
    ["NUL bytes in a line", Buffer.concat([Buffer.alloc(100), Buffer.from("\n")]), { malformed_line: 1 }, 0],
    ["UTF-16", Buffer.from('{"type":"user"}\n', "utf16le"), { malformed_line: 1, partial_tail: 1 }, 0],
    ["deep nesting", `{"type":"user","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`, {}, 0],
    ["an array and a number", "[1]\n2\n", { not_an_object: 2 }, 0],
  ];
  it.each(odd)("of %s is counted, and the lines beside it are read", async (_, bytes, counts, more) => {
    const make = claudeLines(desk.directory);
    const first = Buffer.from(`${JSON.stringify(make.prompt({ uuid: "u1" }, "before"))}\n`);
    await writeClaude(desk.claude, []);
    await writeFile(
      join(desk.claude, "projects", "-w", `${claudeId}.jsonl`),
      Buffer.concat([first, Buffer.from(bytes)]),
    );
    const { total, problems } = await desk.data("session_read", { session_id: claudeId });
    expect(total).toBe(1 + more);
    const told = Object.fromEntries(problems.map(({ code, count }: { code: string; count: number }) => [code, count]));
    expect(told).toMatchObject(counts);
  });

  it("takes times in seconds, in the future and none at all as they are, in the order of the file", async () => {
    const make = claudeLines(desk.directory);
    const line = (uuid: string, timestamp: unknown, parent?: string) => ({
      ...make.prompt({ uuid, parent: parent ?? null }, uuid),
      timestamp,
    });
    await writeClaude(desk.claude, [
      line("a", 1_772_442_000),
      line("b", undefined, "a"),
      line("c", "2199-01-01T00:00:00.000Z", "b"),
      line("d", 1_772_442_001_000, "c"),
    ]);
    const { messages, session } = await desk.data("session_read", { session_id: claudeId });
    expect(messages.map(({ at }: { at: string | null }) => at)).toEqual([
      "2026-03-02T09:00:00.000Z",
      null,
      "2199-01-01T00:00:00.000Z",
      "2026-03-02T09:00:01.000Z",
    ]);
    expect(messages.map(({ id }: { id: string }) => id)).toEqual(["a", "b", "c", "d"]);
    expect(session.durationMs).toBeGreaterThan(0);
  });

  it("a transcript that is deleted, moved or grows less is told as it is", async () => {
    await one();
    const path = join(desk.claude, "projects", "-w", `${claudeId}.jsonl`);
    expect((await desk.data("session_list", {})).total).toBe(1);
    await rm(path);
    expect((await desk.data("session_list", {})).total).toBe(0);
    expect(await desk.call("session_read", { session_id: claudeId })).toMatchObject(failed("not_found"));
  });

  it("a host's database that is damaged in the middle is named or read as far as it goes", async () => {
    const path = await writeOpencode(desk.opencode, desk.directory, { id: "ses_one" });
    const bytes = await readFile(path);
    bytes.fill(0xff, 4_096);
    await writeFile(path, bytes);
    const list = await desk.call("session_list", {});
    expect(list.ok && JSON.stringify(list.data)).toContain("opencode.db");
    expect(list.text).toContain("Not read: opencode");
  });

  it("gives no negative duration when clocks go back", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1", at: "2026-03-02T10:00:00.000Z" }, "later"),
      make.prompt({ uuid: "u2", parent: "u1", at: "2026-03-02T09:00:00.000Z" }, "earlier"),
      make.prompt({ uuid: "u3", parent: "u2", at: "not a time" }, "never"),
    ]);
    const { session, messages } = await desk.data("session_read", { session_id: claudeId });
    expect(session.durationMs).toBeGreaterThanOrEqual(0);
    expect(messages.map(({ id }: { id: string }) => id)).toEqual(["u1", "u2", "u3"]);
    expect(messages[2].at).toBeNull();
  });
});
