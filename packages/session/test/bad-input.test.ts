import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, writeClaude } from "./hosts.ts";

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
