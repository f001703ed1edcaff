import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineBench } from "@toolhaft/testing";
import { readLines } from "../src/index.ts";
import { makeTranscripts } from "./make-transcripts.ts";
import { makeRollout, packedId, packRollout } from "./packed.ts";

const child = fileURLToPath(new URL("./work-child.ts", import.meta.url));
const loader = new URL("../../testing/run/typescript-loader.mjs", import.meta.url).href;

interface Measured {
  wall: number;
  cpu: number;
  peak: number;
}

export default defineBench(async (bench) => {
  const small = bench.flags.includes("--small");
  const size = small ? { files: 200, bytes: 100e6 } : { files: 2_000, bytes: 1e9 };
  const home = mkdtempSync(join(tmpdir(), "toolhaft-bench-session-"));
  const directory = join(home, "project");
  const root = join(home, "claude");
  mkdirSync(directory);
  try {
    const set = makeTranscripts(root, directory, size.files, size.bytes);
    const folder = join(root, "projects", "-bench");
    const run = (tool: string, input: object, before = "", at = root, host = "claude-code"): Measured =>
      JSON.parse(
        execFileSync(
          process.execPath,
          ["--expose-gc", "--import", loader, child, at, directory, tool, JSON.stringify(input), before, host],
          {
            encoding: "utf8",
            maxBuffer: 1 << 26,
          },
        ),
      );
    const peaks: number[] = [];
    const measured = (tool: string, input: object, before = ""): Measured => {
      const result = run(tool, input, before);
      peaks.push(result.peak);
      return result;
    };
    const parse = await parseAll(folder);
    const look = lookAll(folder);
    const first = measured("session_search", { query: set.rareWord });
    bench.figure({
      name: "first index",
      ours: first.wall,
      baseline: { name: "JSON.parse of every line", value: parse },
      unit: "ms",
      target: { max: 6 },
    });
    const rg = ripgrep(folder);
    const rows: [string, string, number][] = [
      ["search, rare word", set.rareWord, 0.3],
      ["search, common word", set.commonWord, 1],
    ];
    for (const [name, query, max] of rows) {
      const ours = Math.min(...[1, 2, 3].map(() => measured("session_search", { query }, "open").wall));
      if (rg === undefined) bench.skip(name, "ripgrep (rg) is not on the PATH");
      else
        bench.figure({ name, ours, baseline: { name: "rg -F -i -c", value: rg(query) }, unit: "ms", target: { max } });
    }
    const scan = measured(
      "session_search",
      { query: set.outputWord, include_tool_output: true, limit: 5 },
      "open",
    ).wall;
    if (rg === undefined) bench.skip("search with tool output", "ripgrep (rg) is not on the PATH");
    else
      bench.figure({
        name: "search with tool output, word in no text",
        ours: scan,
        baseline: { name: "rg -F -i -c", value: rg(set.outputWord) },
        unit: "ms",
        target: { max: 10 },
      });
    const appended = measured("session_search", { query: set.rareWord }, `append:${set.lastFile}`).wall;
    bench.figure({
      name: "search after 1 MB was appended",
      ours: appended,
      baseline: { name: "first index", value: first.wall },
      unit: "ms",
      target: { max: 0.05 },
    });
    const listed = Math.min(...[1, 2, 3].map(() => measured("session_list", { limit: 100 }, "open").wall));
    bench.figure({
      name: `list of ${size.files} sessions`,
      ours: listed,
      baseline: { name: "readdir and stat", value: look },
      unit: "ms",
    });
    const middle = join(folder, readdirSync(folder).sort()[Math.floor(size.files / 2)] ?? "");
    const id = idOf(middle);
    const read = measured("session_read", { session_id: id, offset: 20, limit: 20 }, "open").wall;
    bench.figure({
      name: "read of 20 messages in the middle",
      ours: read,
      baseline: { name: "JSON.parse of every line", value: parse },
      unit: "ms",
      target: { max: small ? 0.1 : 0.01 },
    });
    const one = makeTranscripts(join(home, "one"), directory, 1, 100e6);
    const parseOne = await parseAll(join(one.root, "projects", "-bench"));
    run("session_search", { query: one.rareWord }, "", one.root);
    bench.figure({
      name: "info of a 100 MB transcript",
      ours: Math.min(
        ...[1, 2, 3].map(() => run("session_info", { session_id: idOf(one.lastFile) }, "open", one.root).wall),
      ),
      baseline: { name: "JSON.parse of every line", value: parseOne },
      unit: "ms",
      target: { max: 0.02 },
    });
    const index = statSync(join(directory, ".toolhaft", "session-index.db")).size;
    bench.figure({
      name: "index against prompts and answers",
      ours: index,
      baseline: { name: "their bytes", value: set.textBytes },
      unit: "bytes",
    });
    bench.figure({
      name: "peak memory over idle, all rows",
      ours: Math.max(...peaks) / 2 ** 20,
      baseline: { name: "the bound", value: 150 },
      unit: "MiB",
      target: { max: 1 },
    });
    packedRollout();
    await manySessions(bench, home);
    bench.note(
      `${set.files} transcripts, ${(set.bytes / 1e6).toFixed(0)} MB, ${(set.textBytes / 1e6).toFixed(1)} MB of prompts and answers, seeded.`,
    );

    /** How much longer the first index of a packed file takes than that of the plain one. */
    function packedRollout(): void {
      const row = "first index of a .zst file";
      const plainHome = join(home, "codex");
      const plain = makeRollout(plainHome, directory, small ? 10e6 : 100e6);
      const packedHome = join(home, "codex-packed");
      if (packRollout(plain, packedHome) === undefined) {
        bench.skip(row, "zstd is not on the PATH");
        return;
      }
      const index = join(directory, ".toolhaft");
      const first = (at: string) => {
        rmSync(index, { recursive: true, force: true });
        return run("session_info", { session_id: packedId }, "", at, "codex").cpu;
      };
      bench.figure({
        name: row,
        ours: first(packedHome),
        baseline: { name: "the plain file", value: first(plainHome) },
        unit: "ms",
      });
    }

    function manySessions(target: typeof bench, base: string): void {
      const many = join(base, "many");
      const place = join(many, "projects", "-many");
      mkdirSync(place, { recursive: true });
      mkdirSync(join(directory, "small"), { recursive: true });
      for (let n = 0; n < 10_000; n += 1) {
        const session = `${n.toString(16).padStart(8, "0")}-1111-4000-8000-000000000000`;
        const line = {
          type: "user",
          uuid: `u${n}`,
          parentUuid: null,
          cwd: n % 100 === 0 ? join(directory, "small") : directory,
          sessionId: session,
          timestamp: new Date(1.7e12 + n * 1_000).toISOString(),
          message: { role: "user", content: `prompt ${n}` },
        };
        writeFileSync(join(place, `${session}.jsonl`), `${JSON.stringify(line)}\n`);
      }
      const stats = lookAll(place);
      rmSync(join(directory, ".toolhaft"), { recursive: true, force: true });
      run("session_list", { limit: 1 }, "", many);
      const rows: [string, object][] = [
        ["list of 10,000 sessions, one page", { limit: 100 }],
        ["list of one project among 10,000 sessions", { limit: 100, project_path: "small" }],
      ];
      for (const [name, input] of rows) {
        target.figure({
          name,
          ours: Math.min(...[1, 2, 3].map(() => run("session_list", input, "open", many).wall)),
          baseline: { name: "readdir and stat", value: stats },
          unit: "ms",
          target: { max: 2 },
        });
      }
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

function idOf(file: string): string {
  return basename(file, ".jsonl");
}

async function parseAll(folder: string): Promise<number> {
  const start = performance.now();
  for (const name of readdirSync(folder)) {
    for await (const line of readLines(join(folder, name), 0, {
      maxLineBytes: 1 << 26,
      signal: new AbortController().signal,
    })) {
      JSON.parse(Buffer.from(line.bytes).toString("utf8"));
    }
  }
  return performance.now() - start;
}

function lookAll(folder: string): number {
  const once = () => {
    const start = performance.now();
    for (const name of readdirSync(folder)) statSync(join(folder, name));
    return performance.now() - start;
  };
  return Math.min(once(), once(), once());
}

function ripgrep(folder: string): ((word: string) => number) | undefined {
  const once = (word: string) => {
    const start = performance.now();
    try {
      execFileSync("rg", ["-F", "-i", "-c", word, folder], { stdio: "ignore" });
    } catch (error) {
      // 1: nothing found.
      if (!(error instanceof Error && "status" in error && error.status === 1)) throw error;
    }
    return performance.now() - start;
  };
  try {
    once("toolhaft");
  } catch {
    return undefined;
  }
  return (word) => Math.min(once(word), once(word), once(word));
}
