import { type AssetCatalog, createAssets } from "@toolhaft/assets";
import { createContext, type Family } from "@toolhaft/core";
import { createMemory, type MemoryFamily } from "@toolhaft/memory";
import { createSessions, recordSession, type SessionReader, sqliteSessionStore } from "@toolhaft/session";
import { createTasks, sqliteTasks, type TaskStore } from "@toolhaft/tasks";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import {
  type AssetSearch,
  assetSource,
  filesSource,
  type MemorySearch,
  memorySource,
  type SessionSearch,
  sessionSource,
  type TaskSearch,
  taskSource,
} from "../src/index.ts";
import { callOf, contextOver, folder, good, independentCount } from "./setting.ts";

const sentence = "The port of our Postgres moved to 5433.";

/** All five families over one real folder, each with something about the topic. */
async function everything() {
  const workspace = await folder({
    ".agents/skills/database/SKILL.md": `---\nname: database\ndescription: How we run the Postgres database\n---\n# Ports\n\n${sentence}\n`,
    ".agents/roles/dev/role.yaml": "name: dev\nprompt: p\nsubagents:\n  sub:\n    prompt: p\n",
    ".agents/roles/dev/subagents/ops/role.yaml": "name: ops\nprompt: p\n",
    ".agents/roles/dev/subagents/ops/references/ports.md":
      "# Kerberos ticket\n\nRenew the kerberos ticket on port 88.\n",
    "docs/network.md": `# Network\n\n${sentence}\n`,
  });
  const { directory } = workspace;
  const context = createContext({ directory });
  const at = (name: string) => workspace.path(`.toolhaft/${name}`);
  const closing = <F extends Family>(family: F): F => {
    onTestFinished(() => family.close());
    return family;
  };
  const memory = closing(createMemory({ path: at("memory.db") }));
  const assets = closing(createAssets({ directory }));
  const sessions = closing(createSessions());
  const tasks = closing(createTasks());
  const backend = sqliteTasks({ path: at("tasks.db") });
  const recorded = sqliteSessionStore({ path: at("sessions.db") });
  onTestFinished(async () => {
    await backend[Symbol.asyncDispose]();
    await recorded[Symbol.asyncDispose]();
  });
  const write = (tool: Family, name: string, input: object) => callOf(tool, name, input, context).then(good);
  await write(memory, "memory_write", { title: "Database ports", content: sentence, scope: "workspace" });
  await write(tasks, "task_post", { title: "Move the database", body: `Check it. ${sentence}` });
  await using writer = await recordSession({ directory, title: "Talk about ports" });
  await writer.append([{ id: "m1", role: "user", parts: [{ kind: "text", text: `Remember: ${sentence}` }] }]);
  await writer.flush();
  const sources = [
    memorySource(memory),
    taskSource(backend.store),
    sessionSource(recorded.reader),
    assetSource(assets.catalog),
    filesSource(),
  ];
  return { context, workspace, call: contextOver({ sources }), families: [memory, tasks, sessions, assets] };
}

describe("the real families", () => {
  it("refs-1: every ref and every follow-up call leads to the record that holds the snippet", async () => {
    const { call, context, families } = await everything();
    const everywhere = good(await call({ topic: "postgres port" }, context)).data;
    // The file of the skill and the skill are one text: one hit that names both.
    expect(
      everywhere.hits.some(
        ({ alsoAt, ref }) => [ref, ...alsoAt].filter((one) => one.includes("SKILL.md")).length === 2,
      ),
    ).toBe(true);
    const sources = ["memory", "task", "session", "asset"];
    const { data, text } = good(await call({ topic: "postgres port", sources }, context));
    expect(data.sources.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...["memory ok", "task ok", "session ok", "asset ok"],
    ]);
    expect(independentCount(text)).toBe(data.usedTokens);
    const shown = new Set(data.hits.map(({ source }) => source));
    for (const source of sources) expect([...shown]).toContain(source);
    const readers: Record<string, readonly [tool: string, parameter: string]> = {
      memory: ["memory_get", "id"],
      task: ["task_export", "task_id"],
      session: ["session_read", "session_id"],
      asset: ["asset_inspect", "name"],
    };
    for (const { ref, source, follow, snippet } of data.hits) {
      // A reference of the sub-role speaks of another port.
      const told = snippet.includes("port 88") ? "port 88" : "5433";
      expect(snippet).toContain(told);
      const [tool = "", parameter = ""] = readers[source] ?? [];
      const family = families.find(({ tools }) => tools.some(({ name }) => name === tool));
      if (family === undefined) throw new Error(`no family has ${tool}`);
      const type = source === "asset" ? { type: follow?.input.type } : {};
      expect((await callOf(family, tool, { [parameter]: ref, ...type }, context)).text).toContain(told);
      expect((await callOf(family, follow?.tool ?? "", follow?.input, context)).text).toContain(told);
    }
  });

  it("finds the reference of a sub-role, and words that no asset holds together", async () => {
    const { call, context } = await everything();
    const { data } = good(await call({ topic: "kerberos postgres", sources: ["asset"] }, context));
    expect(data.hits.map(({ title }) => title).join()).toMatch(/ports \(reference of dev\/ops\)|database \(skill\)/);
    expect(data.hits.some(({ snippet }) => snippet.includes("kerberos"))).toBe(true);
    expect(data.hits.some(({ snippet }) => snippet.includes("5433"))).toBe(true);
  });

  it("a store that is locked or damaged is one failed source among the others", async () => {
    const { workspace, context } = await everything();
    const { writeFileSync } = await import("node:fs");
    const path = workspace.path("damaged.db");
    writeFileSync(path, "this is no database, only a text that is long enough to be looked at");
    const broken = createMemory({ path });
    onTestFinished(() => broken.close());
    const call = contextOver({ sources: [memorySource(broken), filesSource()] });
    const { data, text } = good(await call({ topic: "postgres port" }, context));
    expect(data.sources).toMatchObject([{ status: "failed", error: { code: "unavailable" } }, { status: "ok" }]);
    expect(text).toContain("Failed: memory (");
  });

  it("the families' stores fit the ports, as they are", () => {
    expectTypeOf<MemoryFamily>().toExtend<MemorySearch>();
    expectTypeOf<TaskStore>().toExtend<TaskSearch>();
    expectTypeOf<SessionReader>().toExtend<SessionSearch>();
    expectTypeOf<AssetCatalog>().toExtend<AssetSearch<Parameters<AssetCatalog["read"]>[0]>>();
  });
});

describe("files", () => {
  const ask = async (files: Record<string, string>, input: Record<string, unknown>, limits = {}) => {
    const workspace = await folder(files);
    return good(await contextOver({ sources: [filesSource({ limits })] })({ topic: "needle", ...input }, workspace));
  };
  it("leaves out what is ignored, secret, binary or a link, and says nothing of it", async () => {
    const workspace = await folder({
      ".gitignore": "build/\n*.log\n!keep.log\n",
      "a.txt": "needle a",
      "build/b.txt": "needle b",
      "c.log": "needle c",
      "keep.log": "needle keep",
      "sub/.gitignore": "/only-here.txt\n",
      "sub/only-here.txt": "needle d",
      "sub/deep/only-here.txt": "needle e",
      ".env": "needle=1",
      ".env.local": "needle=1",
      id_rsa: "needle",
      "server.pem": "needle",
      "node_modules/x/index.js": "needle",
      ".git/config": "needle",
      "binary.bin": "needle\0",
    });
    const { symlinkSync, writeFileSync } = await import("node:fs");
    symlinkSync(workspace.path("build/b.txt"), workspace.path("link.txt"));
    writeFileSync(workspace.path("latin1.txt"), Buffer.from([0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0xff]));
    const { data } = good(await contextOver({ sources: [filesSource()] })({ topic: "needle" }, workspace));
    expect(data.hits.map(({ ref }) => ref).sort()).toEqual(["a.txt", "keep.log", "sub/deep/only-here.txt"]);
  });
  it("masks a secret that stands in a file", async () => {
    const token = ["ghp", "0123456789abcdefghijABCDEFGHIJ456789"].join("_");
    const { text, data } = await ask({ "a.ts": `const needle = "${token}";` }, {});
    expect(text).toContain("needle");
    expect(text + JSON.stringify(data)).not.toContain(token);
  });
  it("stops at its limits and says so", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`f${String(n).padStart(2, "0")}.txt`, `needle ${n}`]),
    );
    const { text, data } = await ask(files, {}, { files: 10 });
    expect(data.sources).toMatchObject([{ found: 10, note: expect.stringContaining("stopped after 10 files") }]);
    expect(text).toContain("Not complete: files (stopped after 10 files");
    expect((await ask(files, {}, { bytes: 20 })).text).toContain("stopped after 20 bytes");
    expect((await ask(files, {}, { time: -1 })).text).toContain("Not complete: files");
  });
  it("a folder that is not there is a failed source", async () => {
    const workspace = await folder({});
    const sources = [filesSource({ directory: workspace.path("gone") })];
    const result = await contextOver({ sources })({ topic: "x" }, workspace);
    expect(result.ok).toBe(false);
    expect(result.text).toContain("ENOENT");
  });
  it("ranks the file that holds more of the words first", async () => {
    const { data } = await ask(
      { "a.txt": "needle needle needle", "b.txt": "a needle in the haystack" },
      { topic: "needle haystack" },
    );
    expect(data.hits.map(({ ref }) => ref)).toEqual(["b.txt", "a.txt"]);
  });
});
