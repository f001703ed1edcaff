import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { long } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { claudeCodeStore } from "../src/index.ts";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, lines, usage, writeClaude } from "./hosts.ts";

const desk = useDesk();
const child = fileURLToPath(new URL("./fixtures/memory-child.mjs", import.meta.url));
const mebibyte = 1024 * 1024;

/** A transcript with one line of the given size between two others, and `filler` bytes of ordinary lines after them. */
async function writeHuge(lineBytes: number, filler: number): Promise<void> {
  const make = claudeLines(desk.directory);
  const folder = join(desk.claude, "projects", "-w");
  await mkdir(folder, { recursive: true });
  const out = createWriteStream(join(folder, `${claudeId}.jsonl`));
  const write = async (chunk: string | Buffer) => {
    if (!out.write(chunk)) await once(out, "drain");
  };
  await write(lines([make.prompt({ uuid: "u1" }, "first neighbour")]));
  const answer = JSON.stringify(
    make.answer(
      { uuid: "u2", parent: "u1" },
      { id: "msg_1", content: [{ type: "text", text: "@@" }], usage: usage(3, 4) },
    ),
  );
  const [head = "", tail = ""] = answer.split("@@");
  await write(head);
  const block = Buffer.alloc(mebibyte, "abcdefgh");
  for (let written = 0; written < lineBytes; written += mebibyte) await write(block);
  await write(`${tail}\n`);
  await write(lines([make.prompt({ uuid: "u3", parent: "u2" }, "last neighbour")]));
  const fill = lines([make.other({ uuid: "x", parent: "u3" }, { type: "progress", data: "y".repeat(8_000) })]);
  const many = Buffer.from(fill.repeat(100));
  for (let written = 0; written < filler; written += many.length) await write(many);
  out.end();
  await once(out, "finish");
}

function measured() {
  return JSON.parse(
    execFileSync(process.execPath, [child, desk.claude, desk.directory, claudeId], {
      encoding: "utf8",
      maxBuffer: 64 * mebibyte,
    }),
  );
}

describe("huge", () => {
  it(`huge-1: a line of ${long ? 516 : 64} MiB between two others`, async () => {
    await writeHuge((long ? 516 : 64) * mebibyte, 0);
    const { messages, hits, problems, usage: counted, peak } = measured();
    expect(messages).toBe(3);
    expect(hits).toBe(2);
    expect(counted).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(problems).toEqual([expect.objectContaining({ code: "oversize_line", count: 1 })]);
    expect(peak).toBeLessThanOrEqual(150);
  });

  it.skipIf(!long)("huge-2: a transcript longer than the longest string", async () => {
    await writeHuge(1 * mebibyte, 575 * mebibyte);
    const { messages, hits, problems, peak } = measured();
    expect(messages).toBe(3);
    expect(hits).toBe(2);
    expect(problems).toEqual([]);
    expect(peak).toBeLessThanOrEqual(150);
  });
});

describe("time", () => {
  const prompts = (count: number) => {
    const make = claudeLines(desk.directory);
    return Array.from({ length: count }, (_, n) =>
      make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `zebra prompt ${n}`),
    );
  };

  it("over while indexing: the answer says what is left, and the next call goes on", async () => {
    await writeClaude(desk.claude, prompts(9_000));
    desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })], indexMs: 0 });
    const first = await desk.data("session_search", { query: "zebra" });
    expect(first.index.upToDate).toBe(false);
    expect(first.index.pendingBytes).toBeGreaterThan(0);
    let page = first;
    for (let calls = 0; calls < 20 && !page.index.upToDate; calls += 1)
      page = await desk.data("session_search", { query: "zebra" });
    expect(page.index.upToDate).toBe(true);
    expect(page.searched.messages).toBe(9_000);
  });

  it("over while scanning: the cursor goes on where the scan stopped", async () => {
    for (let n = 0; n < 4; n += 1) {
      const make = claudeLines(desk.directory, `0000000${n}-0000-4000-8000-000000000000`);
      await writeClaude(
        desk.claude,
        [
          make.answer(
            { uuid: "a" },
            { id: "m", content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }], usage: usage(1, 1) },
          ),
          make.result({ uuid: "r", parent: "a" }, "t", `quagga in file ${n}`),
        ],
        `0000000${n}-0000-4000-8000-000000000000`,
      );
    }
    desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })], scanMs: 0 });
    const seen = new Set<string>();
    let cursor: string | null | undefined;
    for (let calls = 0; calls < 12 && cursor !== null; calls += 1) {
      const page = await desk.data("session_search", {
        query: "quagga",
        include_tool_output: true,
        ...(cursor !== undefined && { cursor }),
      });
      for (const hit of page.hits) seen.add(hit.sessionId);
      cursor = page.nextCursor;
    }
    expect(seen.size).toBe(4);
  });

  it("cut by a signal, a call answers cancelled", async () => {
    await writeClaude(desk.claude, prompts(100));
    expect(await desk.call("session_search", { query: "zebra" }, { signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      error: { code: "cancelled" },
    });
    const controller = new AbortController();
    const running = desk.call(
      "session_search",
      { query: "zebra", include_tool_output: true },
      { signal: controller.signal },
    );
    controller.abort();
    const result = await running;
    expect(result.ok || result.error.code === "cancelled").toBe(true);
  });
});
