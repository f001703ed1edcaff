import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@toolhaft/core";
import { openDatabase } from "@toolhaft/sqlite";
import { tempWorkspace } from "@toolhaft/testing";
import { afterAll, describe, expect, it } from "vitest";
import { claudeCodeFormat } from "../src/claude-code/format.ts";
import { codexFormat } from "../src/codex/format.ts";
import { totalUsage } from "../src/cost.ts";
import type { Message, Usage } from "../src/model.ts";
import { opencodeFormat } from "../src/opencode/format.ts";
import type { SessionReader } from "../src/store.ts";
import { transcriptStore } from "../src/stores/transcript-store.ts";
import type { TranscriptFormat } from "../src/transcripts/format.ts";
import { migrations } from "../src/transcripts/schema.ts";
import { samples } from "./samples.ts";

const signal = new AbortController().signal;
const open: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of open) await close();
});

async function readerOf(format: TranscriptFormat): Promise<SessionReader> {
  const workspace = await tempWorkspace();
  const database = openDatabase({ path: join(workspace.directory, "index.db"), migrations, family: "session-index" });
  open.push(async () => {
    (await database).close();
    await workspace[Symbol.asyncDispose]();
  });
  return transcriptStore({ format, unsupported: {} }).attach({
    database: () => database,
    clock: systemClock,
    maxLineBytes: 16 * 1024 * 1024,
  }).reader;
}

async function messages(reader: SessionReader, id: string, branch: "main" | "all" = "main"): Promise<Message[]> {
  const all: Message[] = [];
  for await (const message of reader.messages(id, { branch }, signal)) all.push(message);
  return all;
}

async function usage(reader: SessionReader, id: string, inherited: boolean): Promise<Usage> {
  return totalUsage((await reader.usage(id, signal)).models.filter((model) => model.inherited === inherited));
}

const made = samples === undefined ? undefined : join(samples, "made");

describe.skipIf(made === undefined)("sample transcripts", async () => {
  const expected =
    made === undefined
      ? { claude: {}, codex: {}, opencode: {} }
      : JSON.parse(readFileSync(join(made, "expected.json"), "utf8"));
  const claude = await readerOf(claudeCodeFormat([join(made ?? "", "claude")]));
  const codex = await readerOf(codexFormat(join(made ?? "", "codex")));
  const opencode = await readerOf(opencodeFormat(join(made ?? "", "opencode"), undefined));
  const all = {
    directories: "all" as const,
    limit: 100,
    includeChildren: false,
    includeArchived: true,
    indexMs: 60_000,
  };

  it("lists every Claude Code session", async () => {
    const { items } = await claude.list(all, signal);
    expect(items.map(({ id }) => id).sort()).toEqual(Object.keys(expected.claude).sort());
  });

  it.each(Object.entries<Record<string, unknown>>(expected.claude))("reads Claude Code %s", async (id, want) => {
    const summary = await claude.get(id, signal);
    if (typeof want.title === "string") expect(summary?.title).toBe(want.title);
    if (want.usage !== undefined) expect(await usage(claude, id, false)).toMatchObject(want.usage as object);
    if (want.inherited) expect(await usage(claude, id, true)).toMatchObject(want.inherited as object);
    if (want.parent !== undefined) expect(summary?.parent).toMatchObject({ id: want.parent, kind: "fork" });
    if (want.mainPath !== undefined) expect(summary?.messages).toBe(want.mainPath);
    if (want.children !== undefined) expect(await claude.children(id, signal)).toHaveLength(want.children as number);
    if (want.readable !== undefined) {
      const texts = (await messages(claude, id, "all")).flatMap(({ parts }) => parts.map(({ text }) => text));
      expect(texts).toEqual(expect.arrayContaining(want.readable as string[]));
    }
  });

  it("lists sessions of opencode's database and of its older files", async () => {
    const { items } = await opencode.list(all, signal);
    expect(items.map(({ id }) => id).sort()).toEqual(Object.keys(expected.opencode).sort());
  });

  it.each(Object.entries<Record<string, unknown>>(expected.opencode))("reads opencode %s", async (id, want) => {
    const summary = await opencode.get(id, signal);
    const report = await opencode.usage(id, signal);
    const { costUsd, ...tokens } = want.usage as Usage & { costUsd: number };
    const own = report.models.filter(({ inherited }) => !inherited);
    expect(totalUsage(own)).toEqual(tokens);
    expect(own.reduce((sum, { recordedUsd }) => sum + (recordedUsd ?? 0), 0)).toBeCloseTo(costUsd, 9);
    if (want.messages !== undefined) expect(summary?.messages).toBe(want.messages);
    if (want.parent !== undefined) expect(summary?.parent).toMatchObject({ id: want.parent, kind: "fork" });
    if (want.damagedParts !== undefined) {
      expect(report.problems.find(({ code }) => code === "damaged_part")?.count).toBe(want.damagedParts);
    }
    if (want.toolCalls !== undefined) {
      expect(Object.fromEntries(report.tools.map(({ name, calls }) => [name, calls]))).toEqual(want.toolCalls);
    }
    if (want.todos !== undefined) {
      const todos = (await opencode.todos(id, signal)) ?? [];
      for (const [status, count] of Object.entries(want.todos as object)) {
        expect(todos.filter((todo) => todo.status === status)).toHaveLength(count);
      }
    }
  });

  it("lists every Codex session once", async () => {
    const { items } = await codex.list({ ...all, includeChildren: true }, signal);
    expect(items.map(({ id }) => id).sort()).toEqual(Object.keys(expected.codex).sort());
  });

  it.each(Object.entries<Record<string, unknown>>(expected.codex))("reads Codex %s", async (id, want) => {
    if (want.usage !== undefined) {
      const report = await codex.usage(id, signal);
      if (want.usage === null) expect(report.models).toEqual([]);
      else expect(await usage(codex, id, false)).toEqual(want.usage);
    }
    if (want.inherited !== undefined) expect(await usage(codex, id, true)).toEqual(want.inherited);
    const read = await messages(codex, id);
    const prompts = read.filter(({ kind }) => kind === "prompt");
    if (Array.isArray(want.userPrompts)) expect(prompts.map(({ parts }) => parts[0]?.text)).toEqual(want.userPrompts);
    else if (want.userPrompts !== undefined) expect(prompts).toHaveLength(want.userPrompts as number);
    if (want.ownUserPrompts !== undefined) expect(prompts.filter(({ inherited }) => !inherited)).toHaveLength(1);
    if (want.assistantTexts !== undefined) {
      const answers = read
        .filter(({ kind }) => kind === "answer")
        .flatMap(({ parts }) => parts.map(({ text }) => text));
      expect(answers).toEqual(want.assistantTexts);
    }
    if (want.toolCalls !== undefined) {
      const { tools } = await codex.usage(id, signal);
      expect(Object.fromEntries(tools.map(({ name, calls }) => [name, calls]))).toEqual(want.toolCalls);
    }
  });
});
