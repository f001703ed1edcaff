import { existsSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { type AnyTool, defineTool, toJsonSchema, toolset } from "@toolhaft/core";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { type FixtureLog, fixtureTools } from "@toolhaft/testing/fixture-tools";
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
  /** How often the host asked a person. */
  asked: number;
  /** The tools as the host sent them to its model. */
  sent: { name: string; schema: unknown }[];
}

/** What a host may be unable to do; each declared loss is shown by a test that it is one. */
export type Ability = "data" | "fileChanges" | "abort" | "progress" | "approval" | "repair" | "errorFlag";

export interface Host {
  name: string;
  lost: readonly Ability[];
  run(turn: Turn): Promise<Outcome>;
}

/** Everything that must be equal in every host. */
export function describeHost(host: Host, families: () => Promise<readonly AnyTool[]>): void {
  const can = (ability: Ability) => !host.lost.includes(ability);
  // A test that does not concern a host is not there, rather than skipped.
  const withApproval = can("approval") ? it : () => undefined;
  const withoutApproval = can("approval") ? () => undefined : it;

  describe(`through ${host.name}`, () => {
    let workspace: TempWorkspace;
    let log: FixtureLog;
    let tools: readonly AnyTool[];
    const run = (name: string, input: unknown, rest: Partial<Turn> = {}) =>
      host.run({
        tools,
        name,
        input: typeof input === "string" ? input : JSON.stringify(input),
        ...rest,
        options: { context: { directory: workspace.directory }, ...rest.options },
      });

    beforeEach(async () => {
      workspace = await tempWorkspace();
      log = { ran: [] };
      tools = fixtureTools({ log });
    });
    afterEach(() => workspace.remove());

    it("gives the model the tool's text and the application its data", async () => {
      const outcome = await run("echo", { text: "hallo" });
      expect(outcome).toMatchObject({ text: "hallo", failed: false });
      if (can("data")) expect(outcome.data).toEqual({ text: "hallo" });
      else expect(outcome.data).toBeUndefined();
    });

    it("schema-1: applies defaults and does not require defaulted fields", async () => {
      const outcome = await run("defaults", { owner: "a" });
      expect(outcome.text).toBe("a for 600 s, no priority");
      expect(log.ran).toEqual([{ tool: "defaults", input: { owner: "a", ttl_secs: 600 } }]);
      expect(outcome.sent.find(({ name }) => name === "defaults")?.schema).toMatchObject({
        required: ["owner"],
        properties: { ttl_secs: { default: 600 } },
      });
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

    it("refuses an unknown key with the nearest name", async () => {
      const outcome = await run("defaults", { owner: "a", ttlSecs: 5 });
      expect(outcome.text).toContain("ttl_secs");
      expect(log.ran).toEqual([]);
    });

    it("input-1: repairs an array that was sent as a string", async () => {
      const outcome = await run("defaults", { owner: "a", paths: '["x","y"]' });
      if (can("repair")) expect(outcome.text).toBe("a for 600 s, no priority, x y");
      else expect(outcome.failed).toBe(true);
    });

    it("abort-1: runs nothing when it was aborted before", async () => {
      const controller = new AbortController();
      controller.abort();
      await run("slow", {}, { signal: controller.signal }).catch(() => undefined);
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
      if (can("fileChanges"))
        expect(outcome.fileChanges).toMatchObject([{ kind: "create", path: workspace.path("fixture.txt") }]);
    });

    it("reports progress in order, none after the end", async () => {
      const updates: (number | undefined)[] = [];
      const controller = new AbortController();
      const running = run(
        "slow",
        { steps: 3 },
        { signal: controller.signal, options: { onProgress: (_callId, { progress }) => void updates.push(progress) } },
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
        expect(outcome.text).toContain("--allow");
        expect(existsSync(outside.path("x"))).toBe(false);
      });

      it("asks through the context's own asker by policy, once for a session", async () => {
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

      withApproval("asks through the host: a yes runs the call, asked once", async () => {
        const outcome = await run("changes_files", { path: outside.path("x") }, { approve: true });
        expect(outcome).toMatchObject({ asked: 1, text: `created ${outside.path("x")}` });
        expect(existsSync(outside.path("x"))).toBe(true);
      });

      withApproval("asks through the host: a no runs nothing", async () => {
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
        expect(outcome.asked).toBe(0);
        expect(outcome.text).toContain("denied");
        expect(existsSync(outside.path("x"))).toBe(false);
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
      const { createPolicy } = await import("@toolhaft/core");
      const policy = createPolicy({ rules: [{ effect: "deny", tools: "fails" }], fallback: "allow" });
      const outcome = await run(
        "echo",
        { text: "a" },
        { options: { context: { directory: workspace.directory, policy } } },
      );
      expect(outcome.sent.map(({ name }) => name)).not.toContain("fails");
    });

    it("sends the schema of every tool of every family unchanged", async () => {
      const every = [...fixtureTools({}), ...(await families())];
      const outcome = await run("echo", { text: "a" }, { tools: every });
      for (const tool of every) {
        expect(outcome.sent.find(({ name }) => name === tool.name)?.schema, tool.name).toEqual(
          toJsonSchema(tool, "mcp"),
        );
      }
    });
  });
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
