import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, writeClaude } from "./hosts.ts";
import { openHostDatabase, writeOpencode } from "./opencode-host.ts";

const desk = useDesk();

const patch = (oldLine: string, newLine: string) => [
  { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${oldLine}`, `+${newLine}`] },
];

/** A session whose edits are recorded without the file they were made in, beside what the host backed up. */
async function claudeEdits(backups: Record<string, string>, first: string | null): Promise<void> {
  const make = claudeLines(desk.directory);
  const path = join(desk.directory, "a.txt");
  const edit = (n: number, oldLine: string, newLine: string) => [
    make.answer(
      { uuid: `a${n}`, parent: n === 1 ? "u1" : `r${n - 1}` },
      { id: `msg_${n}`, content: [{ type: "tool_use", id: `t${n}`, name: "Edit", input: {} }] },
    ),
    {
      ...make.result({ uuid: `r${n}`, parent: `a${n}` }, `t${n}`, "done"),
      toolUseResult: { filePath: path, structuredPatch: patch(oldLine, newLine) },
    },
  ];
  await writeClaude(desk.claude, [
    make.prompt({ uuid: "u1" }, "edit it"),
    {
      type: "file-history-snapshot",
      messageId: "u1",
      isSnapshotUpdate: true,
      snapshot: { messageId: "u1", trackedFileBackups: { "a.txt": { backupFileName: first, version: 1 } } },
    },
    ...edit(1, "one", "ONE"),
    ...edit(2, "ONE", "First"),
  ]);
  const folder = join(desk.claude, "file-history", claudeId);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(backups)) await writeFile(join(folder, name), text);
}

/** The text after `git apply` of a diff to a text. */
async function applied(before: string | null, name: string, diff: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "apply-"));
  try {
    if (before !== null) await writeFile(join(folder, name), before);
    execFileSync("git", ["apply", "-"], { cwd: folder, input: diff });
    return await readFile(join(folder, name), "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("Claude Code's file history", () => {
  it("gives the text that an edit left out, so that the diff is exact", async () => {
    await claudeEdits({ "0abc@v1": "one\ntwo\n" }, "0abc@v1");
    const { files } = await desk.data("session_diff", { session_id: claudeId });
    expect(files).toMatchObject([{ path: "a.txt", certainty: "exact", additions: 1, deletions: 1, kind: "modify" }]);
    expect(await applied("one\ntwo\n", "a.txt", files[0].diff)).toBe("First\ntwo\n");
  });

  it("of a file that did not exist makes no base up, and follows no name out of its folder", async () => {
    await claudeEdits({}, "../../../etc/passwd");
    const outside = await desk.data("session_diff", { session_id: claudeId });
    expect(outside.files).toMatchObject([{ certainty: "sequence", additions: 2, deletions: 2 }]);
    expect(outside.files[0].diff).not.toContain("root:");
  });

  it("that was cleaned up leaves the patches in their order", async () => {
    await claudeEdits({}, "0abc@v1");
    const { files } = await desk.data("session_diff", { session_id: claudeId });
    expect(files).toMatchObject([{ certainty: "sequence", additions: 2, deletions: 2 }]);
  });
});

const session = "ses_snapshots";

/** A host whose steps name trees of its snapshot repository. */
async function opencodeSnapshots(options: { nested?: boolean; repository?: boolean } = {}): Promise<void> {
  const path = await writeOpencode(desk.opencode, desk.directory, { id: session });
  const work = await mkdtemp(join(tmpdir(), "snapshot-"));
  const repository = join(desk.opencode, "snapshot", "p", ...(options.nested === true ? ["0123abcd"] : []));
  await mkdir(repository, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["--git-dir", repository, "--work-tree", work, ...args], {
      encoding: "utf8",
      cwd: work,
    }).trim();
  git("init", "-q");
  const tree = () => {
    git("add", "-A", ".");
    return git("write-tree");
  };
  await writeFile(join(work, "list.txt"), "one\ntwo\nthree\n");
  await writeFile(join(work, "old ü.txt"), "moved\nwith\nits\ntext\nas it was\n");
  await writeFile(join(work, "gone.txt"), "bye\n");
  const trees = [tree()];
  await writeFile(join(work, "list.txt"), "one\nTWO\nthree\n");
  trees.push(tree());
  await writeFile(join(work, "new.txt"), "hello");
  await writeFile(join(work, "latin.txt"), Buffer.from([0xe9, 0x0a]));
  await rm(join(work, "gone.txt"));
  await cp(join(work, "old ü.txt"), join(work, "moved.txt"));
  await rm(join(work, "old ü.txt"));
  trees.push(tree());
  const db = openHostDatabase(path);
  const at = 1_772_442_010_000;
  const message = db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  const part = db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
  for (const n of [1, 2]) {
    const data = { role: "assistant", time: { created: at + n }, path: { cwd: desk.directory, root: desk.directory } };
    message.run(`s_m${n}`, session, at + n, at + n, JSON.stringify(data));
    const steps = [
      { type: "step-start", snapshot: trees[n - 1] },
      { type: "text", text: `step ${n}` },
      { type: "step-finish", snapshot: trees[n], reason: "stop" },
    ];
    for (const [k, step] of steps.entries())
      part.run(`s_p${n}${k}`, `s_m${n}`, session, at + n, at + n, JSON.stringify(step));
  }
  db.close();
  if (options.repository === false) await rm(join(desk.opencode, "snapshot"), { recursive: true });
  await rm(work, { recursive: true });
}

async function entries(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

describe("opencode's snapshots", () => {
  for (const nested of [false, true]) {
    it(`give the changes of a session, ${nested ? "a repository for each folder" : "one repository"}`, async () => {
      await opencodeSnapshots({ nested });
      const before = await entries(desk.opencode);
      const { files, basis } = await desk.data("session_diff", { session_id: session });
      expect(basis).toBe("snapshots");
      expect(
        files.map(({ path, from, kind, certainty }: Record<string, unknown>) => [path, from, kind, certainty]),
      ).toEqual([
        ["gone.txt", null, "delete", "exact"],
        ["latin.txt", null, "create", "exact"],
        ["list.txt", null, "modify", "exact"],
        ["moved.txt", "old ü.txt", "move", "exact"],
        ["new.txt", null, "create", "exact"],
      ]);
      const of = (name: string) => files.find(({ path }: { path: string }) => path === name).diff;
      expect(await applied("one\ntwo\nthree\n", "list.txt", of("list.txt"))).toBe("one\nTWO\nthree\n");
      expect(await applied(null, "new.txt", of("new.txt"))).toBe("hello");
      expect(await entries(desk.opencode)).toEqual(before);
    });
  }

  it("are taken up to the message that is asked for", async () => {
    await opencodeSnapshots();
    const { files } = await desk.data("session_diff", { session_id: session, message_id: "s_m1" });
    expect(files.map(({ path }: { path: string }) => path)).toEqual(["list.txt"]);
    const none = await desk.data("session_diff", { session_id: session, message_id: "#0" });
    expect(none.files).toEqual([]);
  });

  it("that are gone are unavailable, never no changes", async () => {
    await opencodeSnapshots({ repository: false });
    const result = await desk.call("session_diff", { session_id: session });
    expect(result).toMatchObject({ ok: false, error: { code: "unavailable" } });
    expect(result.text).toContain(join(desk.opencode, "snapshot", "p"));
  });
});
