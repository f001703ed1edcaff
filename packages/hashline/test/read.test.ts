import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createContext } from "@toolhaft/core";
import { parseText } from "@toolhaft/workspace";
import { describe, expect, it } from "vitest";
import { annotate, showLine } from "../src/annotate.ts";
import { annotateText } from "../src/annotate-text.ts";
import { createHashline } from "../src/hashline.ts";
import { createLineHasher } from "../src/line-hash.ts";
import type { HashlineReadData } from "../src/tools/read.ts";
import { desk, toolOf } from "./desk.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("hashline_read", () => {
  it("shows header, anchors and the next call of a part, and no more than that for a whole file", async () => {
    const at = desk();
    at.put("src/app.ts", numbered(20));
    const part = await at.ok<HashlineReadData>("hashline_read", { filePath: "src/app.ts", offset: 10, limit: 3 });
    const { version, lines } = part.data;
    expect(version).toMatch(/^[0-9a-f]{64}$/);
    expect(part.text).toBe(
      [
        "src/app.ts",
        `version: ${version.slice(0, 12)}`,
        "hashWidth: 2",
        "totalLines: 20",
        "lines: 10-12",
        ...lines.map(({ line, hash, text }) => `${line}#${hash}|${text}`),
        'next: hashline_read {"filePath":"src/app.ts","offset":13,"limit":3}',
      ].join("\n"),
    );
    const whole = await at.ok<HashlineReadData>("hashline_read", { filePath: "src/app.ts" });
    expect(whole.text).not.toMatch(/^(lines|next|note):/m);
    expect(whole.data).toMatchObject({ startLine: 1, endLine: 20, encoding: "utf-8", bom: false, lineEnds: "lf" });
  });

  it("spells the next call with the name under which the host knows the tool", async () => {
    const at = desk();
    at.put("f", numbered(5));
    const named = { ...createContext({ directory: at.directory }), toolName: (name: string) => `my_${name}` };
    const { text } = await at.ok("hashline_read", { filePath: "f", limit: 2 }, named);
    expect(text).toContain('next: my_hashline_read {"filePath":"f","offset":3,"limit":2}');
  });

  it("can be walked by its next calls through 100,000 lines without gap or repeat", async () => {
    const at = desk({ maxTextChars: 400_000 });
    at.put("f", numbered(100_000));
    const seen: string[] = [];
    let call: unknown = { filePath: "f" };
    for (let calls = 0; call !== undefined && calls < 100; calls++) {
      const { text, data } = await at.ok<HashlineReadData>("hashline_read", call);
      expect(text.length).toBeLessThanOrEqual(400_000);
      expect(data.startLine).toBe(seen.length + 1);
      for (const line of data.lines) seen.push(line.text);
      const next = /^next: hashline_read (.*)$/m.exec(text)?.[1];
      call = next === undefined ? undefined : JSON.parse(next);
    }
    expect(seen.join("\n")).toBe(numbered(100_000).trimEnd());
  });

  it("shows an empty file as such", async () => {
    const at = desk();
    at.put("f", "");
    const { text, data } = await at.ok<HashlineReadData>("hashline_read", { filePath: "f" });
    expect(text).toMatch(/totalLines: 0\n\(empty: append without pos\)$/);
    expect(data).toMatchObject({ totalLines: 0, startLine: 1, endLine: 0, lines: [], lineEnds: "none" });
  });

  it("cuts a long line between code points and always shows one line", async () => {
    const at = desk({ maxLineChars: 5, maxTextChars: 150 });
    at.put("f", "ab😀cd😀ef\nsecond\nthird\n");
    const { text, data } = await at.ok<HashlineReadData>("hashline_read", { filePath: "f" });
    expect(data.lines[0]).toMatchObject({ text: "ab😀cd", hiddenChars: 3 });
    expect(text).toContain("|ab😀cd…[+3 chars]");
    expect(data.nextOffset).toBeDefined();
  });

  it("reads a file of 10,000,000 bytes in one line", async () => {
    const at = desk();
    at.put("f", "x".repeat(10_000_000));
    const { data } = await at.ok<HashlineReadData>("hashline_read", { filePath: "f" });
    expect(data.lines[0]).toMatchObject({ hiddenChars: 9_998_000 });
    expect(data.finalNewline).toBe(false);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ["mixed line ends", "a\nb\r\nc\r\n", /^note: mixed line ends: 1 LF, 2 CRLF$/m],
    ["a lone CR", "a\nb\rc\n", /^note: a CR inside line 2;/m],
    ["U+2028", "a\nb\u2028c\n", /^note: U\+2028 inside line 2;/m],
    ["bad bytes", Buffer.from("610a63e90a", "hex"), /^note: not UTF-8: bytes shown as U\+FFFD in line 2;/m],
    ["no final newline", "a", /^note: no newline at the end of the file$/m],
    ["only CRs", "a\rb", /^note: the file has CR-only line ends/m],
  ])("notes %s", async (_, content, note) => {
    const at = desk();
    at.put("f", content);
    const { text } = await at.ok("hashline_read", { filePath: "f" });
    expect(text).toMatch(note);
    at.put("plain", "a\nb\n");
    expect((await at.ok<HashlineReadData>("hashline_read", { filePath: "plain" })).data.notes).toEqual([]);
  });

  it("offers like-named paths for a missing file", async () => {
    const at = desk();
    at.put("src/server.ts", "x\n");
    const result = await at.call("hashline_read", { filePath: "src/servr.ts" });
    expect(result).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(result.text).toContain("did you mean src/server.ts?");
    expect(result.text).toContain(join(at.directory, "src/servr.ts"));
  });

  it("names the last lines when the offset is past the end", async () => {
    const at = desk();
    at.put("f", numbered(30));
    const result = await at.call("hashline_read", { filePath: "f", offset: 31, limit: 10 });
    expect(result).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    const hint = /hashline_read (\{.*\})/.exec(result.text)?.[1] ?? "";
    expect((await at.ok<HashlineReadData>("hashline_read", JSON.parse(hint))).data.endLine).toBe(30);
  });

  it.each([
    ["no path", {}],
    ["an empty path", { filePath: "" }],
    ["NUL in the path", { filePath: "a\0b" }],
    ["offset 0", { filePath: "f", offset: 0 }],
    ["a fraction", { filePath: "f", limit: 1.5 }],
    ["an unknown field", { filePath: "f", lines: 3 }],
  ])("refuses %s", async (_, input) => {
    const at = desk();
    at.put("f", "a\n");
    expect(await at.call("hashline_read", input)).toMatchObject({ ok: false, error: { code: "invalid_input" } });
  });

  it("never waits for a FIFO and refuses what lies outside", async () => {
    const at = desk();
    execFileSync("mkfifo", [join(at.directory, "fifo")]);
    expect(await at.call("hashline_read", { filePath: "fifo" })).toMatchObject({
      ok: false,
      error: { code: "unsupported" },
    });
    expect(await at.call("hashline_read", { filePath: "/etc/hostname" })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
  });

  it("refuses a file over the limit with both figures", async () => {
    const at = desk({}, { maxFileBytes: 10 });
    at.put("f", "x".repeat(11));
    const result = await at.call("hashline_read", { filePath: "f" });
    expect(result).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(result.text).toMatch(/11 .*10/);
  });

  it("makes a workspace of its own where none is given", async () => {
    const at = desk();
    mkdirSync(join(at.directory, "sub"));
    writeFileSync(join(at.directory, "sub", "f"), "a\n");
    const own = createHashline();
    const directory = join(at.directory, "sub");
    const read = await toolOf(own, "hashline_read").call({ filePath: "f" }, { directory });
    expect(read.ok, read.text).toBe(true);
    await own.close();
  });
});

describe("annotateText", () => {
  it.each([
    ["LF", numbered(2_500)],
    ["CRLF and CJK", "漢字\r\nかな\r\n한글".repeat(40)],
    ["bad bytes and long lines", Buffer.concat([Buffer.from(`${"é".repeat(2_100)}\n`), Buffer.alloc(2_500, 0xe9)])],
    ["one line", "x"],
    ["nothing", ""],
  ])("writes what annotate gives: %s", async (_, content) => {
    const hasher = await createLineHasher();
    const file = parseText(Buffer.from(content));
    expect(annotateText(file, hasher)).toBe(annotate(file, hasher).map(showLine).join("\n"));
    const range = { from: 9, to: 12 };
    expect(annotateText(file, hasher, range)).toBe(annotate(file, hasher, range).map(showLine).join("\n"));
  });

  it("counts up through powers of ten", async () => {
    const hasher = await createLineHasher();
    const file = parseText(Buffer.from("a\n".repeat(100_010)));
    const numbers = annotateText(file, hasher)
      .split("\n")
      .map((line) => Number.parseInt(line, 10));
    expect(numbers).toEqual(Array.from({ length: 100_010 }, (_, index) => index + 1));
  });
});
