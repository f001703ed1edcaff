import { getEventListeners, getMaxListeners, setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createContext,
  createPolicy,
  type FileChange,
  type PermissionRequest,
  parseRule,
  type ToolContext,
  ToolError,
  toolOutput,
} from "../src/index.ts";
import { defaults, echo, fails } from "./fixture-tools.ts";
import { probe, turn, until } from "./tools.ts";

const directory = "/w";
const change: FileChange = {
  kind: "create",
  path: "a",
  before: null,
  after: { version: "0".repeat(64), bytes: 1, lines: 1, mode: 0o644 },
  additions: 1,
  deletions: 0,
  diff: "+a\n",
  diffTruncated: false,
};

describe("steps in order", () => {
  it("policy, parse, effects, before, execute, output, render", async () => {
    const seen: string[] = [];
    const note = (step: string): true => {
      seen.push(step);
      return true;
    };
    const tool = probe(
      () => {
        note("execute");
        return { value: 1 };
      },
      {
        shape: {
          a: z
            .string()
            .refine(() => note("parse"))
            .describe("a"),
        },
        output: z.object({ value: z.number().refine(() => note("output")) }),
        effects: () => {
          note("effects");
          return [{ permission: "file.write", resource: "/w/x" }];
        },
        render: () => {
          note("render");
          return "text";
        },
      },
    );
    const policy = {
      check: ({ permission }: { permission?: string }) => {
        note(`policy ${permission ?? "tool"}`);
        return { effect: "allow", reason: "" } as const;
      },
      visible: () => true,
      narrow: () => policy,
    };
    expect(await tool.call({ a: "x" }, { directory, policy })).toEqual({ ok: true, text: "text", data: { value: 1 } });
    expect(seen.filter((step, index) => step !== seen[index - 1])).toEqual([
      "policy tool",
      "parse",
      "effects",
      "policy file.write",
      "execute",
      "output",
      "render",
    ]);
  });

  it("a denied tool's input is never parsed", async () => {
    let parsed = false;
    const tool = probe(() => ({}), {
      shape: {
        a: z
          .string()
          .refine(() => (parsed = true))
          .describe("a"),
      },
    });
    const policy = createPolicy({ rules: [parseRule("deny", "probe")], directory });
    const result = await tool.call({ a: "x" }, { directory, policy });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "denied", retryable: false, details: { by: "policy", rule: { effect: "deny", tools: "probe" } } },
    });
    expect(result.text).toContain("hint: do not repeat this call unchanged");
    expect(parsed).toBe(false);
  });

  it("a denied effect keeps the tool from running", async () => {
    let ran = false;
    const tool = probe(() => (ran = true), {
      effects: () => [{ permission: "file.write", resource: "/w/.toolhaft/x" }],
    });
    expect(await tool.call({}, { directory })).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(ran).toBe(false);
  });

  it("a rule that asks for the whole tool puts one question for it", async () => {
    const asked: PermissionRequest[] = [];
    const context = {
      directory,
      policy: createPolicy({ rules: [parseRule("ask", "echo")], directory }),
    };
    const asker = async (request: PermissionRequest) => {
      asked.push(request);
      return { allow: true } as const;
    };
    expect(await echo.call({ text: "a" }, { ...context, asker })).toMatchObject({ ok: true });
    expect(asked.map(({ permission, resources, reason }) => ({ permission, resources, reason }))).toEqual([
      { permission: "tool.call", resources: ["echo"], reason: "Echo" },
    ]);
  });

  it("a result is frozen", async () => {
    expect(Object.isFrozen(await echo.call({ text: "a" }))).toBe(true);
    expect(Object.isFrozen(await fails.call({}))).toBe(true);
  });
});

describe("text of a failure", () => {
  it("is code, message and hint", async () => {
    expect((await fails.call({})).text).toBe("not_found: no pending task\nhint: post one first");
  });

  it("lists at most ten issues, one a line", async () => {
    const { text } = await defaults.call({ owner: "", priority: "x", ttl_secs: -1 } as never);
    expect(text).toBe(
      'invalid_input: owner: must not be empty (and 2 more)\nhint: mend the input and call again\n- owner: must not be empty\n- priority: "x" is none of "low", "high"\n- ttl_secs: -1 is below the least allowed, 1',
    );
  });

  it("begins with the tool's lead while nothing has happened", async () => {
    const lead = { failureLead: "Rejected, nothing written." };
    const rejected = probe(() => Promise.reject(new ToolError("conflict", "it changed")), lead);
    expect((await rejected.call({})).text).toBe("Rejected, nothing written. conflict: it changed");
    expect((await rejected.call({ a: 1 })).text).toMatch(/^Rejected, nothing written\. invalid_input: unknown key a/);
    const broken = probe(() => Promise.reject(new Error("boom")), lead);
    expect((await broken.call({})).text).toBe("internal: boom");
    const half = probe(() => Promise.reject(new ToolError("upstream", "half done", { fileChanges: [change] })), lead);
    expect(await half.call({})).toMatchObject({ text: "upstream: half done", fileChanges: [change] });
  });

  it("masks what looks like a secret", async () => {
    const token = ["ghp", "0123456789abcdefghijABCDEFGHIJ456789"].join("_");
    for (const error of [
      new Error(`bad token ${token}`),
      new ToolError("upstream", `refused ${token}`, { hint: `not ${token}` }),
    ]) {
      const result = await probe(() => Promise.reject(error)).call({});
      expect(result.text).not.toContain(token);
      expect(result.text).toContain("[secret: github token]");
    }
  });

  it("retryable by default: timeout, conflict, unavailable that says when; never denied and invalid_input", () => {
    const retryable = (code: ConstructorParameters<typeof ToolError>[0], details?: Record<string, unknown>): boolean =>
      new ToolError(code, "x", details === undefined ? {} : { details }).retryable;
    expect([retryable("timeout"), retryable("conflict"), retryable("unavailable", { retryAfterMs: 5 })]).toEqual([
      true,
      true,
      true,
    ]);
    expect([
      retryable("unavailable"),
      retryable("denied"),
      retryable("invalid_input"),
      retryable("internal"),
      retryable("upstream"),
    ]).toEqual([false, false, false, false, false]);
  });
});

describe("errors-3: odd throws", () => {
  const frozen = Object.freeze({ message: "frozen" });
  const throwing = Object.defineProperty(new Error("x"), "message", {
    get() {
      throw new Error("no message for you");
    },
  });
  const proxy = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
      has: () => {
        throw new Error("no");
      },
      getPrototypeOf: () => {
        throw new Error("no");
      },
    },
  );
  it.each([
    ["undefined", undefined, "internal: the tool threw nothing that says why"],
    ["null", null, "internal: the tool threw nothing that says why"],
    ["a string", "x", "internal: x"],
    ["a number", 7, "internal: the tool threw a value without a message (number)"],
    ["a frozen object", frozen, "internal: frozen"],
    ["a throwing getter", throwing, "internal: the tool threw an error whose message cannot be read"],
    ["a hostile proxy", proxy, "internal: the tool threw an error whose message cannot be read"],
  ])("%s", async (_title, thrown, text) => {
    const result = await probe(() => {
      throw thrown;
    }).call({});
    expect(result).toMatchObject({ ok: false, text, error: { code: "internal", retryable: false } });
  });
  it("a function that is not asynchronous and throws", async () => {
    const tool = probe(() => ({}), {
      execute: () => {
        throw new Error("at once");
      },
    });
    expect((await tool.call({})).text).toBe("internal: at once");
    expect((await tool.call({}, { signal: new AbortController().signal })).text).toBe("internal: at once");
  });
});

describe("output", () => {
  const strict = { output: z.object({ value: z.number() }) };
  it.each([
    [
      "a wrong shape",
      { value: "x" },
      "internal: probe: its output does not match its outputSchema: value: expected a number, received a string",
    ],
    ["nothing", undefined, "internal: probe: its output does not match its outputSchema: a undefined is no JSON value"],
    [
      "NaN",
      { value: Number.NaN },
      "internal: probe: its output does not match its outputSchema: value: NaN is no JSON number",
    ],
    [
      "a key too many",
      { value: 1, other: 2 },
      "internal: probe: its output does not match its outputSchema: unknown key other (allowed: value)",
    ],
  ])("%s", async (_title, data, text) => {
    expect((await probe(() => data, strict).call({})).text).toBe(text);
  });
  it.each([
    ["a promise in it", { value: { inner: Promise.resolve(1) } }, "value.inner: a Promise is no plain object"],
    ["a class instance", { value: new (class Thing {})() }, "value: a Thing is no plain object"],
    ["a date", { value: [new Date()] }, "value[0]: a Date is no plain object"],
    ["a function", { value: () => 1 }, "value: a function is no JSON value"],
  ])("%s", async (_title, data, text) => {
    expect((await probe(() => data).call({})).text).toBe(
      `internal: probe: its output does not match its outputSchema: ${text}`,
    );
  });
  it("is not checked where the definition says so", async () => {
    expect(await probe(() => ({ value: "x" }), { ...strict, validateOutput: false }).call({})).toMatchObject({
      ok: true,
      data: { value: "x" },
    });
  });
  it("of 300 MB of text stays within the cap", async () => {
    const big = "x".repeat(300 * 1024 * 1024);
    const result = await probe(() => ({ value: 1 }), { render: () => big }).call({});
    expect(result.ok && result.text.length).toBeLessThanOrEqual(30_000);
    expect(result.text).toContain(`of ${big.length} characters left out here`);
  });
  it("render that throws or gives no text is internal", async () => {
    const call = (render: unknown) => probe(() => ({ value: 1 }), { render }).call({});
    expect(
      (
        await call(() => {
          throw new Error("boom");
        })
      ).text,
    ).toBe("internal: probe: its render failed: boom");
    expect((await call(() => 7)).text).toBe("internal: probe: its render gave number in place of a text");
    expect((await call(() => null)).text).toBe("internal: probe: its render gave null in place of a text");
  });
  it("lone surrogates become U+FFFD", async () => {
    expect((await probe(() => ({ value: 1 }), { render: () => "a\ud800b\udc00c😀" }).call({})).text).toBe(
      "a\ufffdb\ufffdc😀",
    );
  });
  it("extras of toolOutput arrive, and are told by their symbol", async () => {
    const attachment = { name: "a", mimeType: "text/plain", bytes: 1, source: { kind: "text", text: "a" } } as const;
    const result = await probe(() =>
      toolOutput({ value: 1 }, { fileChanges: [change], attachments: [attachment] }),
    ).call({});
    expect(result).toEqual({
      ok: true,
      text: '{"value":1}',
      data: { value: 1 },
      fileChanges: [change],
      attachments: [attachment],
    });
    const lookalike = await probe(() => ({ value: { data: 1, fileChanges: [] } })).call({});
    expect(lookalike).toEqual({
      ok: true,
      text: '{"value":{"data":1,"fileChanges":[]}}',
      data: { value: { data: 1, fileChanges: [] } },
    });
  });
});

describe("abort", () => {
  it("abort-1: already aborted starts nothing", async () => {
    let connections = 0;
    const server = createServer(() => connections++).listen(0, "127.0.0.1");
    await until(() => server.listening);
    const { port } = server.address() as AddressInfo;
    const slow = probe(() => new Promise(() => connect(port, "127.0.0.1")));
    const result = await slow.call({}, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled", retryable: false } });
    expect(result.text).toBe("cancelled: the call was stopped before it began; nothing ran");
    await turn();
    expect(connections).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });

  it("abort-2: aborted midway, the server sees the connection close", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.resume())).listen(0, "127.0.0.1");
    await until(() => server.listening);
    const { port } = server.address() as AddressInfo;
    const slow = probe(
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          const socket = connect(port, "127.0.0.1");
          socket.on("error", reject);
          signal.addEventListener("abort", () => {
            socket.destroy();
            reject(signal.reason);
          });
        }),
    );
    const controller = new AbortController();
    const running = slow.call({}, { signal: controller.signal });
    await until(() => sockets.length === 1);
    const closed = new Promise((resolve) => sockets[0]?.once("close", resolve));
    controller.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: "cancelled" } });
    await closed;
    await new Promise((resolve) => server.close(resolve));
  });

  it("abort-3: work that finishes after the abort is a success with its changes", async () => {
    const controller = new AbortController();
    const late = probe(async () => {
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return toolOutput({ value: 1 }, { fileChanges: [change] });
    });
    expect(await late.call({}, { signal: controller.signal })).toMatchObject({ ok: true, fileChanges: [change] });
  });

  it("abort-3: work that never returns is cancelled and said to run on", async () => {
    const controller = new AbortController();
    const never = probe(
      () => {
        controller.abort();
        return new Promise(() => undefined);
      },
      { failureLead: "Rejected, nothing written." },
    );
    const result = await never.call({}, { signal: controller.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled", details: { stillRunning: true } } });
    expect(result.text).toMatch(/^cancelled: .*still running, and its effects are unknown/);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("a reason of TimeoutError is a timeout", async () => {
    const waits = probe(
      (_input, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    expect(await waits.call({}, { signal: AbortSignal.timeout(10) })).toMatchObject({
      ok: false,
      error: { code: "timeout", retryable: true },
    });
    expect(
      await echo.call({ text: "a" }, { signal: AbortSignal.abort(new DOMException("late", "TimeoutError")) }),
    ).toMatchObject({ error: { code: "timeout" } });
  });

  it("a ToolError thrown because of the abort keeps its words and its changed files", async () => {
    const controller = new AbortController();
    const half = probe(() => {
      controller.abort();
      throw new ToolError("internal", "2 of 3 files were written", { fileChanges: [change] });
    });
    const result = await half.call({}, { signal: controller.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled" }, fileChanges: [change] });
    expect(result.text).toContain("2 of 3 files were written");
  });

  it("many calls under one signal are no leak that Node would warn of; a limit that somebody chose stays", async () => {
    const warned: Error[] = [];
    const onWarning = (warning: Error): void => void warned.push(warning);
    process.on("warning", onWarning);
    const controller = new AbortController();
    const chosen = new AbortController();
    setMaxListeners(40, chosen.signal);
    const running = [controller, chosen].flatMap(({ signal }) =>
      Array.from({ length: 30 }, () => probe(() => turn().then(() => ({ value: 1 }))).call({}, { signal })),
    );
    for (const result of await Promise.all(running)) expect(result.ok).toBe(true);
    await turn();
    process.off("warning", onWarning);
    expect(warned).toEqual([]);
    expect(getMaxListeners(chosen.signal)).toBe(40);
  });

  it("a signal that only behaves like one is heard, and one without any limit stays so", async () => {
    const lifted = new AbortController();
    setMaxListeners(0, lifted.signal);
    expect(await echo.call({ text: "a" }, { signal: lifted.signal })).toMatchObject({ ok: true });
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    const like = {
      aborted: false,
      reason: undefined,
      addEventListener: (_type: string, listener: unknown) => void listeners.add(listener),
      removeEventListener: (_type: string, listener: unknown) => void listeners.delete(listener),
    } as unknown as typeof signal;
    expect(await echo.call({ text: "a" }, { signal: like })).toMatchObject({ ok: true });
    expect(listeners.size).toBe(0);
  });

  it("1,000 calls leave no listener, aborted or not", async () => {
    const controller = new AbortController();
    for (let index = 0; index < 500; index++) await echo.call({ text: "a" }, { signal: controller.signal });
    const waits = probe(
      (_input, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
        ),
    );
    const running = Array.from({ length: 500 }, () => waits.call({}, { signal: controller.signal }));
    await turn();
    controller.abort();
    for (const result of await Promise.all(running))
      expect(result).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

describe("context", () => {
  const shown = (context: ToolContext): Promise<ToolContext> => {
    let seen = context;
    return probe((_input, given) => {
      seen = given;
      return { value: 1 };
    })
      .call({}, context)
      .then(() => seen);
  };

  it("is completed with stand-alone defaults", () => {
    const context = createContext();
    expect(context).toMatchObject({
      directory: process.cwd(),
      worktree: process.cwd(),
      roots: [process.cwd()],
      agent: "main",
    });
    expect(context.sessionId).toHaveLength(26);
    expect(context.signal.aborted).toBe(false);
    expect(context.toolName("a")).toBe("a");
    expect(createContext().sessionId).not.toBe(context.sessionId);
  });
  it("gives every call an id of its own, unless the host named one", async () => {
    const context = createContext({ directory });
    const [one, two] = [await shown(context), await shown(context)];
    expect(new Set([context.callId, one.callId, two.callId]).size).toBe(3);
    expect(one.callId).toHaveLength(26);
    expect(one.callId < two.callId).toBe(true);
    expect(one.sessionId).toBe(context.sessionId);
    const named = createContext({ directory, callId: "call_7" });
    expect((await shown(named)).callId).toBe("call_7");
    expect((await shown({ ...context, callId: "mine" })).callId).toBe("mine");
  });
  it("passes on message, task and origin", async () => {
    const more = { messageId: "m", task: { id: "t", token: "x" }, origin: { channel: "c" } };
    expect(await shown(createContext({ directory, ...more }))).toMatchObject(more);
  });
  it("refuses relative paths", () => {
    expect(() => createContext({ directory: "src" })).toThrow('createContext: "src" is not an absolute path');
    expect(() => createContext({ directory: "/w", roots: ["/w", "lib"] })).toThrow('"lib" is not an absolute path');
  });
});
