import { execFileSync } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordSession } from "../src/index.ts";
import { parseLine } from "../src/json-line.ts";
import { readLines } from "../src/lines.ts";
import { StringCutter } from "../src/string-cutter.ts";
import { type TreeNode, treeOf } from "../src/transcripts/tree.ts";
import { useDesk, yes } from "./desk.ts";
import { claudeId, claudeLines, codexId, codexRecords, lines, usage, writeClaude, writeCodex } from "./hosts.ts";

const signal = new AbortController().signal;

async function* pieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("lines", () => {
  it("are those of a split, wherever the chunks end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "é", "\n", "\r\n", "{}", "\r", "\0", "x".repeat(9)), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        async (parts, size) => {
          const text = parts.join("");
          const bytes = Buffer.from(text);
          const found: string[] = [];
          let next = 0;
          for await (const line of readLines({ chunks: () => pieces(bytes, size) }, 0, {
            maxLineBytes: 1 << 20,
            signal,
          })) {
            expect(line.offset).toBe(next);
            next = line.next;
            found.push(Buffer.from(line.bytes).toString());
          }
          const expected = text.split("\n");
          if (expected.at(-1) === "") expected.pop();
          expect(found).toEqual(expected.map((line) => line.replace(/\r$/, "")));
          expect(next).toBe(bytes.length);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it("over the cap stay JSON with the beginnings of their strings", async () => {
    await fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 20 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 4_096 }),
        (texts, size) => {
          const long = texts.map((text) => text.repeat(1_200));
          const record = { id: "x", texts: long, usage: { output_tokens: 159 } };
          const bytes = Buffer.from(JSON.stringify(record));
          const cutter = new StringCutter();
          for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size));
          const cut = JSON.parse(Buffer.from(cutter.end()).toString("utf8"));
          expect(cut.usage).toEqual(record.usage);
          for (const [n, text] of long.entries()) {
            const whole = JSON.parse(JSON.stringify(text));
            expect(whole.startsWith(cut.texts[n]) || Buffer.from(whole).toString().startsWith(cut.texts[n])).toBe(true);
          }
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it("of braces without end cost no square of their length", () => {
    const { problems } = parseLine(Buffer.from("{".repeat(2_000_000)), () => true);
    expect(problems).toEqual(["malformed_line"]);
  });
});

describe("trees", () => {
  it("give every message one branch, and end whatever the parents are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: -1, max: 14 }), { nil: null }), { minLength: 1, maxLength: 15 }),
        (parents) => {
          const nodes: TreeNode[] = parents.map((parent, n) => ({
            id: `n${n}`,
            parent: parent === null ? null : `n${parent}`,
            logical: null,
            message: n,
          }));
          const tree = treeOf(nodes);
          expect([...tree.branches.keys()].sort((a, b) => a - b)).toEqual(nodes.map((_, n) => n));
          expect([...tree.branches.values()]).toContain("main");
        },
      ),
      { numRuns: runs(5_000) },
    );
  });
});

describe("promises", () => {
  const desk = useDesk();

  it("loses only damaged lines to damage", async () => {
    const make = claudeLines(desk.directory);
    const good = Array.from({ length: 30 }, (_, n) =>
      JSON.stringify(make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `prompt number ${n}`)),
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(fc.nat(29), fc.constantFrom("cut", "flip", "glue", "delete"), fc.integer({ min: 1, max: 200 })),
          { maxLength: 6 },
        ),
        async (damages) => {
          const texts = [...good];
          const hurt = new Set<number>();
          for (const [at, how, where] of damages) {
            const line = texts[at] ?? "";
            hurt.add(at);
            if (how === "cut") texts[at] = line.slice(0, where);
            if (how === "flip") texts[at] = `${line.slice(0, where)}\0${line.slice(where + 1)}`;
            if (how === "glue") texts[at] = `{"half":"${line.slice(0, 20).replaceAll('"', "")}${line}`;
            if (how === "delete") texts[at] = "";
          }
          const id = `00000000-0000-4000-8000-${String(round++).padStart(12, "0")}`;
          await writeClaude(desk.claude, [], id);
          const path = join(desk.claude, "projects", "-w", `${id}.jsonl`);
          await writeFile(path, `${texts.join("\n").replaceAll(claudeId, id)}\n`);
          const { messages } = await desk.data("session_read", { session_id: id, branch: "all" });
          const read = new Set(messages.map((message: { id: string }) => message.id));
          for (let n = 0; n < 30; n += 1) if (!hurt.has(n)) expect(read).toContain(`u${n}`);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("exact diffs apply to the recorded base and give the recorded end", async () => {
    const text = fc
      .array(fc.constantFrom("a\n", "b\n", "c\r\n", "", "long line\n", "no end"), { maxLength: 8 })
      .map((parts) => parts.join(""));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text, { nil: null }), { minLength: 2, maxLength: 5 }), async (states) => {
        const id = `history-${round++}`;
        await using writer = await recordSession({ id, directory: desk.directory });
        await writer.append({ id: "m", role: "assistant", parts: [{ kind: "text", text: "edits" }] });
        const bytes = (state: string | null | undefined) =>
          state === null || state === undefined ? null : Buffer.from(state);
        for (let n = 1; n < states.length; n += 1) {
          await writer.file({
            messageId: "m",
            path: join(desk.directory, "file.txt"),
            before: bytes(states[n - 1]),
            after: bytes(states[n]),
          });
        }
        const { files } = await desk.data("session_diff", { session_id: id });
        const [first, last] = [states[0] ?? null, states.at(-1) ?? null];
        if (first === last) {
          expect(files).toEqual([]);
          return;
        }
        expect(files[0].certainty).toBe("exact");
        const place = join(desk.directory, `apply-${round}`);
        execFileSync("mkdir", [place]);
        if (first !== null) await writeFile(join(place, "file.txt"), first);
        execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: place, input: files[0].diff });
        const present = (await readdir(place)).includes("file.txt");
        expect(present ? await readFile(join(place, "file.txt"), "utf8") : null).toBe(last);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("a fork reads back as the source's beginning, at every point of it", async () => {
    const make = claudeLines(desk.directory);
    const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    await writeClaude(
      desk.claude,
      Array.from({ length: 8 }, (_, n) =>
        n % 2 === 0
          ? make.prompt({ uuid: uuid(n), parent: n === 0 ? null : uuid(n - 1) }, `prompt ${n}`)
          : make.answer(
              { uuid: uuid(n), parent: uuid(n - 1) },
              { id: `msg_${n}`, content: [{ type: "text", text: `answer ${n}` }], usage: usage(1, n) },
            ),
      ),
    );
    const rollout = codexRecords(desk.directory);
    await writeCodex(desk.codex, [
      rollout.meta(),
      ...[1, 2, 3].flatMap((n) => [
        ...rollout.turn(),
        rollout.prompt(`prompt ${n}`),
        rollout.answer(`answer ${n}`),
        rollout.tokens(n * 100, 100),
        rollout.event({ type: "task_complete", turn_id: "t" }),
      ]),
    ]);
    const texts = (messages: { kind: string; parts: { text: string }[] }[]) =>
      messages.filter(({ kind }) => kind !== "notice").map(({ parts }) => parts[0]?.text);
    for (const id of [claudeId, codexId]) {
      const source = texts((await desk.data("session_read", { session_id: id })).messages);
      for (let point = 0; point < source.length; point += 1) {
        const { fork } = await desk.data("session_fork", { session_id: id, message_id: `#${point}` }, { asker: yes });
        expect(texts((await desk.data("session_read", { session_id: fork.id })).messages)).toEqual(
          source.slice(0, point + 1),
        );
        const info = await desk.data("session_info", { session_id: fork.id });
        expect(info.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
      }
    }
  });

  it("touches nothing of a host's but what a granted fork adds", async () => {
    const make = claudeLines(desk.directory);
    const path = await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "only one")]);
    const state = async () => {
      const { ino, size, mtimeMs } = await stat(path);
      return {
        ino,
        size,
        mtimeMs,
        entries: await readdir(join(desk.claude, "projects", "-w")),
        bytes: await readFile(path, "utf8"),
      };
    };
    const before = await state();
    for (const [tool, input] of [
      ["session_list", {}],
      ["session_search", { query: "one", include_tool_output: true }],
      ["session_read", { session_id: claudeId }],
      ["session_info", { session_id: claudeId }],
      ["session_diff", { session_id: claudeId }],
    ] as const) {
      await desk.data(tool, input);
    }
    expect(await desk.call("session_fork", { session_id: claudeId })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
    expect(await state()).toEqual(before);
    await desk.data("session_fork", { session_id: claudeId }, { asker: yes });
    const after = await state();
    expect(after.entries).toHaveLength(before.entries.length + 1);
    expect({ ...after, entries: before.entries }).toEqual(before);
  });

  it("an index that grew equals one made from nothing", async () => {
    const make = claudeLines(desk.directory);
    const records = Array.from({ length: 40 }, (_, n) =>
      make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `prompt ${n}`),
    );
    const path = await writeClaude(desk.claude, records.slice(0, 10));
    const view = async () => {
      const { messages, total } = await desk.data("session_read", { session_id: claudeId, branch: "all" });
      const { hits } = await desk.data("session_search", { query: "prompt", limit: 100 });
      return {
        total,
        ids: messages.map(({ id }: { id: string }) => id),
        hits: hits.map(({ index }: { index: number }) => index).sort((a: number, b: number) => a - b),
      };
    };
    await view();
    await writeFile(path, lines(records.slice(0, 25)));
    await view();
    await writeFile(path, lines(records.slice(0, 5)));
    expect((await view()).total).toBe(5);
    await writeFile(path, lines(records));
    const grown = await view();
    desk.open({ indexPath: join(desk.directory, "fresh.db"), ...(await onlyClaude()) });
    expect(grown).toEqual(await view());
    expect(grown.total).toBe(40);
    expect(grown.hits).toHaveLength(40);
  });

  async function onlyClaude() {
    const { claudeCodeStore } = await import("../src/index.ts");
    return { stores: [claudeCodeStore({ roots: [desk.claude] })] };
  }
});
