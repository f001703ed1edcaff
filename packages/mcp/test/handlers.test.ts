import { existsSync } from "node:fs";
import { createPolicy, type Toolset, toolset } from "@toolhaft/core";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { type FixtureLog, fixtureTools } from "@toolhaft/testing/fixture-tools";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMcpHandlers } from "../src/handlers.ts";
import type { CallReply, CallRequest, McpHandlers, QuestionAnswer, ServeOptions } from "../src/types.ts";

const yes: QuestionAnswer = { action: "accept", content: { decision: "allow once" } };

let workspace: TempWorkspace;
let outside: TempWorkspace;
let log: FixtureLog;
let tools: Toolset;

beforeEach(async () => {
  workspace = await tempWorkspace();
  outside = await tempWorkspace();
  log = { ran: [] };
  tools = toolset(fixtureTools({ log }));
});
afterEach(() => Promise.all([workspace.remove(), outside.remove()]));

const session = (options: ServeOptions = {}) =>
  createMcpHandlers(tools, { directory: workspace.directory, onError: () => undefined, ...options });
const request = (name: string, input: unknown, rest: Partial<CallRequest> = {}): CallRequest => ({
  name,
  arguments: input,
  signal: new AbortController().signal,
  notify: async () => undefined,
  ask: "park",
  ...rest,
});
const textOf = (reply: CallReply) =>
  reply.kind === "result" && reply.result.content[0]?.type === "text" ? reply.result.content[0].text : "";

async function parked(handlers: McpHandlers, path: string, rest: Partial<CallRequest> = {}) {
  const reply = await handlers.call(request("asks", { path }, rest));
  if (reply.kind !== "question") throw new Error(`no question: ${textOf(reply)}`);
  return reply;
}

describe("a parked call", () => {
  it("runs once, goes on with the answer, and its state is good for one retry", async () => {
    const handlers = session();
    const path = outside.path("a");
    const { state, question } = await parked(handlers, path);
    expect(state).toMatch(/^[0-9a-f]{32}$/);
    expect(question.requestedSchema.properties.decision.enum).toEqual(["allow once", "allow for this session", "deny"]);
    const resume = { state, answer: yes };
    expect(textOf(await handlers.call(request("asks", { path }, { resume })))).toBe(`wrote ${path}`);
    expect(textOf(await handlers.call(request("asks", { path }, { resume })))).toContain(
      "the question has expired, call again",
    );
    expect(log.ran).toHaveLength(1);
    await handlers.close();
  });

  it.each<[string, (path: string) => Partial<CallRequest> & { name?: string }]>([
    ["another input", (path) => ({ arguments: { path: `${path}-other` } })],
    ["another tool", () => ({ name: "changes_files" })],
  ])("is not approved by its state with %s, which ends it", async (_name, changed) => {
    const handlers = session();
    const path = outside.path("a");
    const { state } = await parked(handlers, path);
    const reply = await handlers.call(request("asks", { path }, { resume: { state, answer: yes }, ...changed(path) }));
    expect(textOf(reply)).toContain("expired");
    expect(textOf(await handlers.call(request("asks", { path }, { resume: { state, answer: yes } })))).toContain(
      "expired",
    );
    expect(existsSync(path)).toBe(false);
    await handlers.close();
  });

  it("is not approved from another session", async () => {
    const [mine, theirs] = [session(), session()];
    const path = outside.path("a");
    const { state } = await parked(mine, path);
    expect(textOf(await theirs.call(request("asks", { path }, { resume: { state, answer: yes } })))).toContain(
      "expired",
    );
    expect(existsSync(path)).toBe(false);
    await Promise.all([mine.close(), theirs.close()]);
  });

  it("takes the same input with its keys in another order", async () => {
    const handlers = createMcpHandlers(tools, {
      directory: workspace.directory,
      policy: createPolicy({ rules: [{ effect: "ask", tools: "defaults" }] }),
    });
    const reply = await handlers.call(request("defaults", { owner: "a", ttl_secs: 5 }));
    if (reply.kind !== "question") throw new Error("no question");
    const resume = { state: reply.state, answer: yes };
    expect(textOf(await handlers.call(request("defaults", { ttl_secs: 5, owner: "a" }, { resume })))).toBe(
      "a for 5 s, no priority",
    );
    await handlers.close();
  });

  it("ends denied when nobody answers in time", async () => {
    const handlers = session({ askTimeoutMs: 30 });
    const path = outside.path("a");
    const { state } = await parked(handlers, path);
    await vi.waitFor(async () => {
      const reply = await handlers.call(request("asks", { path }, { resume: { state: `${state}-peek`, answer: yes } }));
      expect(textOf(reply)).toContain("expired");
    });
    await handlers.close();
    expect(existsSync(path)).toBe(false);
  });

  it("ends when the request that stays open is cancelled", async () => {
    const handlers = session();
    const path = outside.path("a");
    const controller = new AbortController();
    const { state } = await parked(handlers, path, { staysOpen: true, signal: controller.signal });
    controller.abort();
    await vi.waitFor(async () => {
      const reply = await handlers.call(request("asks", { path }, { resume: { state, answer: yes } }));
      expect(textOf(reply)).toContain("expired");
    });
    expect(existsSync(path)).toBe(false);
    await handlers.close();
  });

  it("outlives its request where that ends with the question", async () => {
    const handlers = session();
    const path = outside.path("a");
    const controller = new AbortController();
    const { state } = await parked(handlers, path, { signal: controller.signal });
    controller.abort();
    expect(textOf(await handlers.call(request("asks", { path }, { resume: { state, answer: yes } })))).toBe(
      `wrote ${path}`,
    );
    await handlers.close();
  });

  it("is stopped when the session closes", async () => {
    const handlers = session();
    const path = outside.path("a");
    await parked(handlers, path);
    await handlers.close();
    expect(existsSync(path)).toBe(false);
  });
});

describe("handlers without any SDK", () => {
  it("denies at once where nobody can be asked, naming the rule", async () => {
    const handlers = session();
    const path = outside.path("a");
    const reply = await handlers.call(request("asks", { path }, { ask: undefined }));
    expect(textOf(reply)).toContain(`--allow 'file.write:${path}'`);
    await handlers.close();
  });

  it("asks in place where the caller brings a way", async () => {
    const handlers = session();
    const path = outside.path("a");
    expect(textOf(await handlers.call(request("asks", { path }, { ask: async () => yes })))).toBe(`wrote ${path}`);
    const other = outside.path("b");
    expect(
      textOf(await handlers.call(request("asks", { path: other }, { ask: async () => ({ action: "cancel" }) }))),
    ).toContain("denied");
    await handlers.close();
  });

  it("gives data only on request or by option, and never with a failure", async () => {
    const meta = { "toolhaft/structured": true };
    const plain = session();
    expect(await plain.call(request("echo", { text: "a" }))).not.toHaveProperty("result.structuredContent");
    expect(await plain.call(request("echo", { text: "a" }, { meta }))).toHaveProperty("result.structuredContent", {
      text: "a",
    });
    const structured = session({ structured: true });
    expect((await structured.list({})).tools[0]?.outputSchema).toMatchObject({ type: "object" });
    const failed = await structured.call(request("fails", {}, { meta }));
    expect(failed).toMatchObject({
      result: { isError: true, _meta: { "toolhaft/error": { code: "not_found", hint: "post one first" } } },
    });
    expect(failed).not.toHaveProperty("result.structuredContent");
    await Promise.all([plain.close(), structured.close()]);
  });

  it("cuts every text to the server's limit", async () => {
    const handlers = session({ maxTextChars: 500 });
    const text = textOf(await handlers.call(request("echo", { text: "😀".repeat(2_000) })));
    expect(text.length).toBeLessThanOrEqual(500);
    // A lone half of a pair is what a cut in the middle of a character leaves.
    expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
    await handlers.close();
  });

  it("pages the list at a hundred, and gives equal bytes twice", async () => {
    const many = toolset(
      Array.from({ length: 3 }, (_, index) => toolset(fixtureTools({})).prefix(`p${index}_`)).flatMap(
        (set) => set.tools,
      ),
    );
    const handlers = createMcpHandlers(many, { directory: workspace.directory });
    const first = await handlers.list({});
    expect(first.nextCursor).toBeUndefined();
    expect(JSON.stringify(await handlers.list({}))).toBe(JSON.stringify(first));
    const large = createMcpHandlers(
      toolset(
        Array.from({ length: 20 }, (_, index) => toolset(fixtureTools({})).prefix(`q${index}_`)).flatMap(
          (set) => set.tools,
        ),
      ),
      { directory: workspace.directory },
    );
    const page = await large.list({});
    expect(page.tools).toHaveLength(100);
    const rest = await large.list({ cursor: page.nextCursor });
    expect(rest.tools).toHaveLength(20);
    await expect(large.list({ cursor: "nonsense" })).rejects.toMatchObject({ code: -32602 });
    await Promise.all([handlers.close(), large.close()]);
  });

  it("tells a set that cannot be loaded to whoever asks, and still closes", async () => {
    const handlers = createMcpHandlers(() => Promise.reject(new Error("no such family")), {
      directory: workspace.directory,
    });
    await expect(handlers.list({})).rejects.toThrow("no such family");
    await handlers.close();
  });
});
