import { existsSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import {
  type AnyTool,
  createPolicy,
  defineTool,
  type ToolResult,
  toJsonSchema,
  toolOutput,
  toolset,
} from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";
import { arbitraryOf, type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { type FixtureLog, fixtureTools } from "@toolhaft/testing/fixture-tools";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { AdapterOptions, ToolSource } from "../src/options.ts";

/** One turn of a host's own loop: its model calls one tool, gets the answer, and stops. */
export interface Turn {
  tools: ToolSource;
  name: string;
  /** Raw arguments as a model writes them: JSON text. */
  input: string;
  options?: AdapterOptions;
  signal?: AbortSignal;
  /** What the person says when the host asks. */
  approve?: boolean;
}

export interface Outcome {
  /** What the model was given for its call. */
  text: string;
  /** Whether the host told the model, or the application, that the call failed. */
  failed: boolean;
  /** What the application got beside the text. */
  data?: unknown;
  fileChanges?: readonly unknown[];
  /** Media types of the pictures that the model was given. */
  images?: readonly string[];
  /** How often the host asked a person. */
  asked: number;
  /** The tools as the host sent them to its model. */
  sent: { name: string; schema: unknown }[];
}

/** What a host may be unable to do; each declared loss is shown by a test that it is one. */
export type Ability =
  /** A place for data, or changed files, beside the text. */
  | "data"
  | "fileChanges"
  /** Pictures that the model sees. */
  | "images"
  /** The host's signal reaches the tool. */
  | "abort"
  /** The context's own asker is heard. */
  | "asker"
  /** A failed call is told from one that went well. */
  | "errorFlag"
  /** An unknown key reaches the tool. */
  | "unknownKeys"
  /** A schema reaches the model keyword by keyword; else its properties, descriptions and required keys do. */
  | "schema"
  /** JSON that was cut off reaches the tool, where it is refused with our words. */
  | "cutInput";

export interface Host {
  name: string;
  lost: readonly Ability[];
  /** When the host asks a person: before it calls, by tool and input; while the tool runs; or not at all. */
  asks: "before" | "during" | "never";
  /** A tool's schema as the host sends it. @default core's `mcp` profile */
  schemaOf?(tool: AnyTool): unknown;
  /** What the host makes of a schema on its way to the model, undone as far as it means the same. */
  normalize?(schema: unknown): unknown;
  run(turn: Turn): Promise<Outcome>;
}

/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Everything that must be equal in every host. */
export function describeHost(host: Host, families: () => Promise<readonly AnyTool[]>): void {
  const can = (ability: Ability) => !host.lost.includes(ability);
  // A test that does not concern a host is not there, rather than skipped.
  const withApproval = host.asks !== "never" ? it : () => undefined;
  const withoutApproval = host.asks === "never" ? it : () => undefined;

  describe(`through ${host.name}`, () => {
    let workspace: TempWorkspace;
    let log: FixtureLog;
    let tools: readonly AnyTool[];
    let results: ToolResult[];
    const run = (name: string, input: unknown, rest: Partial<Turn> = {}) =>
      host.run({
        tools,
        name,
        input: typeof input === "string" ? input : JSON.stringify(input),
        ...rest,
        options: {
          context: { directory: workspace.directory },
          onResult: (_callId, result) => void results.push(result),
          ...rest.options,
        },
      });
    const schemaOf = host.schemaOf ?? ((tool: AnyTool): unknown => toJsonSchema(tool, "mcp"));
    const normalize = host.normalize ?? ((schema: unknown) => schema);

    beforeEach(async () => {
      workspace = await tempWorkspace();
      log = { ran: [] };
      results = [];
      tools = fixtureTools({ log });
    });
    afterEach(() => workspace.remove());

    it("gives the model the tool's text and the application its data", async () => {
      const outcome = await run("echo", { text: "hallo" });
      expect(outcome).toMatchObject({ text: "hallo", failed: false });
      if (can("data")) expect(outcome.data).toEqual({ text: "hallo" });
      else expect(outcome.data).toBeUndefined();
      expect(results).toMatchObject([{ ok: true, data: { text: "hallo" } }]);
    });

    it("gives the model a text that looks like JSON, like an error or like nothing as it is", async () => {
      for (const text of ['{ "a":  1 }', "12", "null", "Error: no", "[1,\n 2]", "ä 漢 \u{1f600}", "a\n```\nb"])
        expect((await run("echo", { text })).text).toBe(text);
    });

    it("schema-1: applies defaults and does not require defaulted fields", async () => {
      const outcome = await run("defaults", { owner: "a" });
      expect(outcome.text).toBe("a for 600 s, no priority");
      expect(log.ran).toEqual([{ tool: "defaults", input: { owner: "a", ttl_secs: 600 } }]);
      const sent = outcome.sent.find(({ name }) => name === "defaults")?.schema;
      expect(sent).toMatchObject({ required: ["owner"] });
      const declared = schemaOf(toolNamed(tools, "defaults"));
      if (JSON.stringify(declared).includes('"default":'))
        expect(sent).toMatchObject({ properties: { ttl_secs: { default: 600 } } });
    });

    it("tells the model which field was wrong, and nothing ran", async () => {
      const outcome = await run("defaults", { owner: 1 });
      expect(outcome.text).toContain("invalid_input");
      expect(outcome.text).toContain("owner");
      if (can("errorFlag")) expect(outcome.failed).toBe(true);
      expect(log.ran).toEqual([]);
    });

    it("errors-1: leaves code, message and hint of a failure readable", async () => {
      const outcome = await run("fails", {});
      for (const part of ["not_found", "no pending task", "post one first"]) expect(outcome.text).toContain(part);
      if (can("errorFlag")) expect(outcome.failed).toBe(true);
    });

    it("input-3: refuses an unknown key with the nearest name", async () => {
      const outcome = await run("defaults", { owner: "a", ttlSecs: 5 });
      if (can("unknownKeys")) {
        expect(outcome.text).toContain("did you mean ttl_secs");
        expect(log.ran).toEqual([]);
      } else expect(outcome.text).toBe("a for 600 s, no priority");
    });

    it("input-2: takes a number that was sent as a string, and refuses what is none", async () => {
      expect((await run("defaults", { owner: "a", ttl_secs: "60" })).text).toBe("a for 60 s, no priority");
      const refused = await run("defaults", { owner: "a", ttl_secs: "60s" });
      expect(refused.text).toContain("invalid_input");
      expect(refused.text).toContain("ttl_secs");
    });

    it("input-4: never completes arguments that were cut off", async () => {
      const outcome = await run("echo", '{"text":"abc').catch((error: unknown) => ({ text: String(error) }));
      expect(log.ran).toEqual([]);
      if (can("cutInput")) {
        expect(outcome.text).toContain("invalid_input");
        expect(outcome.text).toContain("end after 12 characters");
      }
    });

    it("input-5: lets no key reach a prototype", async () => {
      await run("echo", '{"__proto__":{"x":1},"text":"a"}').catch(() => undefined);
      expect(({} as Record<string, unknown>).x).toBeUndefined();
    });

    it("input-1: repairs an array that was sent as a string", async () => {
      const outcome = await run("defaults", { owner: "a", paths: '["x","y"]' });
      expect(outcome.text).toBe("a for 600 s, no priority, x y");
    });

    it("abort-1: runs nothing when it was aborted before", async () => {
      const controller = new AbortController();
      controller.abort();
      const context = { directory: workspace.directory, ...(!can("abort") && { signal: controller.signal }) };
      await run("slow", {}, { signal: controller.signal, options: { context } }).catch(() => undefined);
      expect(log.ran).toEqual([]);
    });

    it("abort-2: an abort midway reaches the tool: its connection is closed", async () => {
      const silent = await silentServer();
      const controller = new AbortController();
      const running = host.run({
        tools: fixtureTools({ log, slowPort: silent.port }),
        name: "slow",
        input: "{}",
        signal: controller.signal,
        options: {
          context: { directory: workspace.directory, ...(can("abort") ? {} : { signal: controller.signal }) },
        },
      });
      running.catch(() => undefined);
      await vi.waitFor(() => expect(silent.sockets.size).toBe(1), { timeout: 20_000 });
      controller.abort();
      await vi.waitFor(() => expect(silent.sockets.size).toBe(0), { timeout: 20_000 });
      await Promise.allSettled([running]);
      silent.close();
    });

    it("carries the files that changed to the application", async () => {
      const outcome = await run("changes_files", {});
      expect(outcome.text).toBe(`created ${workspace.path("fixture.txt")}`);
      const changes = [{ kind: "create", path: workspace.path("fixture.txt") }];
      if (can("fileChanges")) expect(outcome.fileChanges).toMatchObject(changes);
      else expect(outcome.fileChanges).toBeUndefined();
      expect(results).toMatchObject([{ fileChanges: changes }]);
    });

    it("shows the model a picture, and tells its text where the host shows none", async () => {
      const outcome = await run("picture", {}, { tools: [picture] });
      expect(outcome.text).toBe("one pixel");
      expect(outcome.images ?? []).toEqual(can("images") ? ["image/png"] : []);
    });

    it("reports progress in order, none after the end", async () => {
      const updates: (number | undefined)[] = [];
      const controller = new AbortController();
      const context = { directory: workspace.directory, ...(!can("abort") && { signal: controller.signal }) };
      const running = run(
        "slow",
        { steps: 3 },
        {
          signal: controller.signal,
          options: { context, onProgress: (_callId, { progress }) => void updates.push(progress) },
        },
      );
      running.catch(() => undefined);
      await vi.waitFor(() => expect(updates.at(-1)).toBe(3), { timeout: 20_000 });
      controller.abort();
      await Promise.allSettled([running]);
      expect(updates).toEqual([...updates].sort());
    });

    describe("asking a person", () => {
      let outside: TempWorkspace;
      beforeEach(async () => {
        outside = await tempWorkspace();
      });
      afterEach(() => outside.remove());

      it("fails closed when nobody can be asked", async () => {
        const outcome = await run("asks", { path: outside.path("x") });
        expect(outcome.text).toContain("denied");
        if (host.asks !== "during") expect(outcome.text).toContain("--allow");
        expect(existsSync(outside.path("x"))).toBe(false);
      });

      const withAsker = can("asker") ? it : () => undefined;
      withAsker("asks through the context's own asker by policy, once for a session", async () => {
        let asked = 0;
        const options: AdapterOptions = {
          approval: "policy",
          context: {
            directory: workspace.directory,
            sessionId: "one",
            asker: async () => {
              asked++;
              return { allow: true, remember: "session" };
            },
          },
        };
        const outcome = await run("changes_files", { path: outside.path("x") }, { options });
        expect(outcome.text).toBe(`created ${outside.path("x")}`);
        expect(asked).toBe(1);
      });

      withAsker("approval-3: tells the model what the person said to the no", async () => {
        const context = {
          directory: workspace.directory,
          asker: async () => ({ allow: false as const, feedback: "use /tmp" }),
        };
        const outcome = await run(
          "changes_files",
          { path: outside.path("x") },
          { options: { approval: "policy", context } },
        );
        for (const part of ["denied", "use /tmp", "do not repeat this call unchanged"])
          expect(outcome.text).toContain(part);
        expect(existsSync(outside.path("x"))).toBe(false);
      });

      withApproval("asks through the host: a yes runs the call, asked once", async () => {
        const outcome = await run("changes_files", { path: outside.path("x") }, { approve: true });
        expect(outcome).toMatchObject({ asked: 1, text: `created ${outside.path("x")}` });
        expect(existsSync(outside.path("x"))).toBe(true);
      });

      withApproval("asks through the host: a no changes nothing", async () => {
        const outcome = await run("changes_files", { path: outside.path("x") }, { approve: false });
        expect(outcome.asked).toBe(1);
        expect(existsSync(outside.path("x"))).toBe(false);
        expect(log.ran).toEqual([]);
      });

      withApproval("does not ask for what the policy allows or denies, nor for bad input", async () => {
        expect(await run("changes_files", {}, { approve: true })).toMatchObject({
          asked: 0,
          text: `created ${workspace.path("fixture.txt")}`,
        });
        expect(await run("changes_files", { path: workspace.path(".toolhaft/x") }, { approve: true })).toMatchObject({
          asked: 0,
          text: expect.stringContaining("denied"),
        });
        expect(await run("changes_files", { path: 5 }, { approve: true })).toMatchObject({
          asked: 0,
          text: expect.stringContaining("invalid_input"),
        });
      });

      withApproval("passes the host's yes on for what was asked only", async () => {
        // `asks` does not tell its effects beforehand, so the host could not ask for them.
        const outcome = await run("asks", { path: outside.path("x") }, { approve: true });
        const during = host.asks === "during";
        expect(outcome.asked).toBe(during ? 1 : 0);
        if (!during) expect(outcome.text).toContain("denied");
        expect(existsSync(outside.path("x"))).toBe(during);
      });

      withoutApproval("has no approval of its own", async () => {
        expect((await run("changes_files", { path: outside.path("x") }, { approve: true })).asked).toBe(0);
        expect(existsSync(outside.path("x"))).toBe(false);
      });
    });

    it("takes a name of 48 characters with a prefix", async () => {
      const long = defineTool({
        name: `n${"a".repeat(47)}`,
        title: "A long name",
        description: "Has the longest name a tool may have, to see what hosts make of it.",
        inputSchema: z.object({}),
        outputSchema: z.object({}),
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        execute: async () => ({}),
        render: () => "reached",
      });
      const prefixed = toolset(long).prefix("mcp__toolhaft__");
      const name = prefixed.tools[0]?.name ?? "";
      expect(name).toHaveLength(63);
      expect((await run(name, {}, { tools: prefixed })).text).toBe("reached");
    });

    it("does not show what the policy hides", async () => {
      const policy = createPolicy({ rules: [{ effect: "deny", tools: "fails" }], fallback: "allow" });
      const outcome = await run(
        "echo",
        { text: "a" },
        { options: { context: { directory: workspace.directory, policy } } },
      );
      expect(outcome.sent.map(({ name }) => name)).toContain("echo");
      expect(outcome.sent.map(({ name }) => name)).not.toContain("fails");
    });

    it("schema-2: a tool without parameters is an object without properties and can be called", async () => {
      const outcome = await run("fails", {});
      const declared = normalize(schemaOf(toolNamed(tools, "fails")));
      expect(normalize(outcome.sent.find(({ name }) => name === "fails")?.schema)).toEqual(declared);
    });

    it("reads and edits a real file: equal text and data to a direct call", async () => {
      await using hashline = createHashline();
      await workspace.write({ "a.txt": "one\ntwo\n" });
      const input = { filePath: "a.txt" };
      const direct = await toolNamed(hashline.tools, "hashline_read").call(input, { directory: workspace.directory });
      const through = await run("hashline_read", input, { tools: hashline });
      expect(through.text).toBe(direct.text);
      expect(results).toMatchObject([{ ok: true, data: direct.ok ? direct.data : {} }]);
      const edit = { path: "a.txt", old_content: "two", new_content: "three" };
      expect((await run("edit_file", edit, { tools: hashline })).failed).toBe(false);
      expect(await workspace.read("a.txt")).toBe("one\nthree\n");
    });

    it("sends the schema of every tool of every family as it is", async () => {
      const every = await families();
      expect(every.length).toBeGreaterThan(10);
      const outcome = await run("echo", { text: "a" }, { tools: [...fixtureTools({}), ...every] });
      for (const tool of every) {
        const sent = outcome.sent.find(({ name }) => name === tool.name)?.schema;
        if (can("schema")) expect(normalize(sent), tool.name).toEqual(normalize(schemaOf(tool)));
        else expect(outlineOf(sent), tool.name).toEqual(outlineOf(schemaOf(tool)));
      }
    });

    it("carries an input to every tool of every family as the model wrote it, and the answer back", async () => {
      const reached: { name: string; raw: unknown }[] = [];
      // What the tools do is their own tests' matter: here each call must arrive, and each answer.
      const answering = toolset(await families()).wrap(async ({ tool, raw }) => {
        reached.push({ name: tool.name, raw });
        return { ok: true, text: `answer of ${tool.name}`, data: { from: tool.name } };
      });
      for (const tool of answering.tools) {
        const [input] = fc.sample(arbitraryOf(toJsonSchema(tool, "mcp")), { seed: 7, numRuns: 1 });
        const options = { approval: "policy", context: { directory: workspace.directory } } as const;
        const outcome = await run(tool.name, input, { tools: [tool], options });
        expect(outcome.text).toBe(`answer of ${tool.name}`);
        expect(reached.pop()).toEqual({ name: tool.name, raw: JSON.parse(JSON.stringify(input)) });
      }
    });
  });
}

const picture = defineTool({
  name: "picture",
  title: "Give a picture",
  description: "Gives a picture of one pixel beside its text, to see whether hosts show it.",
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execute: async () => {
    const bytes = Uint8Array.from(Buffer.from(png, "base64"));
    const source = { kind: "bytes" as const, bytes };
    return toolOutput({}, { attachments: [{ name: "p.png", mimeType: "image/png", bytes: bytes.length, source }] });
  },
  render: () => "one pixel",
});

interface ObjectSchema {
  properties?: Record<string, { description?: string }>;
  required?: string[];
}

/** What a model needs most of a schema. */
function outlineOf(schema: unknown): unknown {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  const described = Object.entries(properties).map(([name, { description }]) => [name, description]);
  return { described: Object.fromEntries(described), required: [...required].sort() };
}

function toolNamed(tools: readonly AnyTool[], name: string): AnyTool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}

async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    sockets,
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => server.close(),
  };
}
