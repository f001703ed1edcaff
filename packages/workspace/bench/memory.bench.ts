import { mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineBench } from "@toolhaft/testing";
import { createWorkspace, type FileSystem, nodeFileSystem, spliceLines } from "../src/index.ts";

const LINES = 100_000;
const EDITS = 50;

/** Objects and buffers, live or not yet collected: an upper bound of what a call holds. */
function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export default defineBench(async (bench) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-bench-")));
  try {
    const path = join(root, "large.txt");
    await writeFile(
      path,
      Array.from({ length: LINES }, (_, k) => `line ${k} ${(k * 2_654_435_761) % 1_000_003} and a few words\n`).join(
        "",
      ),
    );
    await writeFile(join(root, "small.txt"), "warm\nup\n");
    let peak = 0;
    const sample = () => {
      peak = Math.max(peak, used());
    };
    await using workspace = createWorkspace({
      root,
      lockDir: join(root, "locks"),
      fsync: false,
      fileSystem: sampled(sample),
    });
    const edit = (name: string, count: number, step: number) =>
      workspace.edit(
        [name],
        (files) => {
          const file = files.get(name);
          if (!file) throw new Error(`${name} is gone`);
          const splices = Array.from({ length: count }, (_, k) => ({
            at: 1 + k * step,
            remove: 1,
            insert: [`edited ${k} ${Math.random()}`],
          }));
          const { bytes, changes } = spliceLines(file, splices);
          sample();
          return { changes: [{ kind: "replace", path: name, bytes, lineChanges: changes }], result: undefined };
        },
        { directory: root },
      );
    for (let round = 0; round < 200; round++) await edit("small.txt", 2, 1);
    if (!globalThis.gc) return bench.skip("peak memory", "needs node --expose-gc");
    globalThis.gc();
    const idle = used();
    peak = 0;
    await edit("large.txt", EDITS, LINES / EDITS);
    bench.figure({
      name: `peak memory of a ${EDITS}-edit commit over idle`,
      ours: peak - idle,
      baseline: { name: "size of the file", value: (await stat(path)).size },
      unit: "bytes",
      target: { max: 4 },
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

/** Looks before every call of the file system. */
function sampled(look: () => void): FileSystem {
  const { umask, ...calls } = nodeFileSystem;
  return {
    umask,
    ...calls,
    open(...args) {
      look();
      return calls.open(...args);
    },
    rename(...args) {
      look();
      return calls.rename(...args);
    },
    lstat(...args) {
      look();
      return calls.lstat(...args);
    },
    link(...args) {
      look();
      return calls.link(...args);
    },
  };
}
