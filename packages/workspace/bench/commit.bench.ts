import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, defineBench } from "@toolhaft/testing";
import writeFileAtomic from "write-file-atomic";
import { createWorkspace, spliceLines } from "../src/index.ts";

const LINES = 500;

/** 20 KB of text, a different one for every round, so that no commit is refused for changing nothing. */
function textOf(round: number): string {
  return Array.from(
    { length: LINES },
    (_, k) => `${String(k + round).padStart(8, "0")} a line of some thirty chars\n`,
  ).join("");
}

export default defineBench(async (bench) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-bench-")));
  try {
    for (const fsync of [false, true]) await commits(bench, folder, fsync);
    await batch(bench, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  bench.note("One commit reads, locks, journals, backs up for undo and replaces; write-file-atomic writes, renames.");
});

async function commits(bench: Bench, folder: string, fsync: boolean): Promise<void> {
  const root = join(folder, `fsync-${fsync}`);
  const { mkdir } = await import("node:fs/promises");
  await mkdir(root);
  await writeFile(join(root, "ours.txt"), textOf(0));
  await writeFile(join(root, "peer.txt"), textOf(0));
  await using workspace = createWorkspace({ root, lockDir: join(folder, "locks"), fsync });
  const scope = { directory: root };
  let round = 0;
  const next = () => Buffer.from(textOf(++round));
  const ours = () => {
    const bytes = next();
    const lineChanges = [{ oldStart: 1, oldLines: LINES, newStart: 1, newLines: LINES }];
    return workspace.edit(
      ["ours.txt"],
      () => ({ changes: [{ kind: "replace", path: "ours.txt", bytes, lineChanges }], result: undefined }),
      scope,
    );
  };
  const baseline = {
    name: "write-file-atomic 7",
    run: () => writeFileAtomic(join(root, "peer.txt"), next(), { fsync }),
  };
  const name = `commit of one 20 KB file, fsync ${fsync ? "on" : "off"}`;
  for (const by of ["cpu", "wall"] as const) {
    await bench.compare({ name: `${name} (${by})`, ours, baseline, by, target: { max: 4 } });
  }
}

/** Printed without a target: what a batch saves over single commits. */
async function batch(bench: Bench, folder: string): Promise<void> {
  const root = join(folder, "batch");
  const { mkdir } = await import("node:fs/promises");
  await mkdir(root);
  const paths = Array.from({ length: 10 }, (_, k) => `f${k}.txt`);
  for (const path of paths) await writeFile(join(root, path), textOf(0));
  await using workspace = createWorkspace({ root, lockDir: join(folder, "locks"), fsync: false });
  const edit = (some: readonly string[], round: number) =>
    workspace.edit(
      some,
      (files) => ({
        changes: some.map((path) => {
          const file = files.get(path);
          if (!file) throw new Error(`${path} is gone`);
          const { bytes, changes } = spliceLines(file, [{ at: 1, remove: 1, insert: [`round ${round}`] }]);
          return { kind: "replace" as const, path, bytes, lineChanges: changes };
        }),
        result: undefined,
      }),
      { directory: root },
    );
  let round = 0;
  await bench.compare({
    name: "ten files in one commit",
    by: "wall",
    ours: () => edit(paths, ++round),
    baseline: {
      name: "ten commits of one file",
      run: async () => {
        round++;
        for (const path of paths) await edit([path], round);
      },
    },
  });
}
