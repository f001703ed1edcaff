import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createKnowledge,
  createKvMemory,
  createMemory,
  createSemanticMemory,
  type Embedder,
  type SecretMode,
} from "../src/index.ts";
import { caller, closeAfterTest, dataOf, errorOf, setting, temporaryFolder } from "./setting.ts";

const secret = "hunter2hunter2";
const modes = ["warn", "mask", "refuse", "off"] as const satisfies readonly SecretMode[];

/** Every tool that writes, with the secret in each field that is looked at. */
const writes = (mode: SecretMode) => {
  const directory = temporaryFolder();
  const made = { secrets: mode };
  const notes = caller(closeAfterTest(createMemory(made)), directory);
  const keys = caller(closeAfterTest(createKvMemory(made)), directory);
  const graph = caller(closeAfterTest(createKnowledge(made)), directory);
  const fragments = caller(closeAfterTest(createSemanticMemory(made)), directory);
  const noteId = async () => {
    const data = dataOf(await notes("memory_write", { title: `plain ${Math.random()}`, content: "nothing in it" }));
    return (data.memory as { id: string }).id;
  };
  return {
    directory,
    calls: [
      ["title", async () => notes("memory_write", { title: `password = ${secret}`, content: "login" })],
      ["content", async () => notes("memory_write", { title: "login", content: `the password = ${secret} of root` })],
      ["changed title", async () => notes("memory_update", { id: await noteId(), title: `token: "${secret}"` })],
      ["changed content", async () => notes("memory_update", { id: await noteId(), content: `pwd=${secret}` })],
      ["value", async () => keys("memory_store", { key: "text", value: `password: "${secret}"` })],
      ["value by its key", async () => keys("memory_store", { key: "object", value: { deep: [{ api_key: secret }] } })],
      ["url", async () => keys("memory_store", { key: "url", value: [`https://root:${secret}@host/x`] })],
      [
        "attributes",
        async () => graph("knowledge_add_entity", { name: "db", type: "t", attributes: { password: secret } }),
      ],
      [
        "attribute text",
        async () =>
          graph("knowledge_add_entity", { name: "web", type: "t", attributes: { note: `secret = '${secret}'` } }),
      ],
      ["fragment", async () => fragments("memory_semantic_add", { content: `the api key = ${secret} is for tests` })],
    ] as const,
    relate: () => graph("knowledge_add_relation", { from: "db", to: "web", type: "feeds" }),
    notes,
    keys,
    graph,
  };
};

describe.each(modes)("secrets in mode %s", (mode) => {
  let said: unknown[][];
  beforeEach(() => {
    said = [];
    for (const method of ["log", "info", "warn", "error", "debug"] as const)
      vi.spyOn(console, method).mockImplementation((...words: unknown[]) => void said.push(words));
  });
  afterEach(() => void vi.restoreAllMocks());

  it("are in no reply, warning, error or log of any tool that writes", async () => {
    const { calls, relate, notes, keys, graph } = writes(mode);
    for (const [field, write] of calls) {
      const result = await write();
      expect(JSON.stringify(result), field).not.toContain(secret);
      if (mode === "refuse") {
        expect(errorOf(result), field).toMatchObject({
          code: "denied",
          message: expect.stringContaining("nothing was stored"),
          hint: expect.stringContaining("secret store"),
        });
        continue;
      }
      const warnings = dataOf(result).warnings as { code: string; kind: string }[];
      expect(warnings.length > 0, field).toBe(mode !== "off");
      for (const warning of warnings) expect(warning).toMatchObject({ code: "secret", kind: expect.any(String) });
      if (mode !== "off") expect(result.text, field).toMatch(/Warning: .*To take it (back|out of recall): \w+ with/);
    }
    if (mode !== "refuse") expect(JSON.stringify(await relate())).not.toContain(secret);
    // Reading shows what was stored.
    const stored = JSON.stringify([
      await notes("memory_recall", { query: "password", limit: 50 }),
      await keys("memory_recall", { key: "object" }),
      await graph("knowledge_query", { start: "db" }),
    ]);
    expect(stored.includes(secret)).toBe(mode === "warn" || mode === "off");
    expect(JSON.stringify(said)).not.toContain(secret);
  });
});

describe("what is found", () => {
  it("is told with its place", async () => {
    const { call } = setting();
    const content = `first line\nthe password = ${secret} here`;
    const { warnings } = dataOf(await call("memory_write", { title: "login", content })) as {
      warnings: { field: string; start: number; end: number }[];
    };
    expect(warnings).toMatchObject([{ code: "secret", kind: "password", field: "content" }]);
    expect(content.slice(warnings[0]?.start, warnings[0]?.end)).toBe(secret);
  });

  it.each([
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----", "private key"],
    ["a token", `ghp_${"a1".repeat(18)}`, "github token"],
    ["a URL with a password", "postgres://app:s3cr3t-word@db/x", "url password"],
  ])("%s", async (_, text, kind) => {
    const { call, directory } = setting({ secrets: "mask" });
    const written = await call("memory_write", { title: "t", content: `before ${text} after` });
    expect(dataOf(written).warnings).toMatchObject([{ kind }]);
    const id = (dataOf(written).memory as { id: string }).id;
    expect(dataOf(await call("memory_get", { id })).content).toMatch(/^before .*\[secret: .*\].* after$/s);
    const keys = caller(closeAfterTest(createKvMemory({ secrets: "mask" })), directory);
    expect(dataOf(await keys("memory_store", { key: "k", value: { text } })).warnings).toMatchObject([{ kind }]);
    const { value } = dataOf(await keys("memory_recall", { key: "k" })) as { value: { text: string } };
    expect(value.text).toContain(`[secret: ${kind}]`);
  });

  it("is no user without a password, no short value and no word in prose", async () => {
    const { call } = setting();
    for (const content of [
      "PostgreSQL at localhost:5432, user=app",
      "password=short",
      "The secret: everybody knows it",
    ])
      expect(dataOf(await call("memory_write", { title: "t", content })).warnings, content).toEqual([]);
  });
});

it("a failing embedder or extractor repeats no secret", async () => {
  const embedder: Embedder = {
    model: "m",
    dimensions: 2,
    embed: async (texts) => Promise.reject(new Error(`cannot embed ${texts.join()} password = ${secret}`)),
  };
  const { W, call, directory } = setting({ embedder });
  await W("login", "who logs in?");
  const result = await call("memory_recall", { query: "login" });
  expect(dataOf(result).degraded).toHaveLength(1);
  expect(JSON.stringify(result)).not.toContain(secret);
  const extractor = async (content: string) => Promise.reject(new Error(`no sense in ${content}`));
  const failing = caller(closeAfterTest(createSemanticMemory({ extractor })), directory);
  const failed = await failing("memory_semantic_add", { content: `password = ${secret}` });
  expect(errorOf(failed).code).toBe("upstream");
  expect(JSON.stringify(failed)).not.toContain(secret);
});

it("an extractor's own words are masked, too, title included", async () => {
  const extractor = async () => [{ content: `password = ${secret}. Then more.`, confidence: 0.5 }];
  const directory = temporaryFolder();
  const call = caller(closeAfterTest(createSemanticMemory({ extractor, secrets: "mask" })), directory);
  expect(dataOf(await call("memory_semantic_add", { content: "harmless" }))).toMatchObject({ outcome: "added" });
  const found = JSON.stringify(await call("memory_semantic_search", { query: "more" }));
  expect(found).not.toContain(secret);
  expect(found).toContain("[secret: password]");
});
