import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  type Asker,
  approval,
  createContext,
  type Decision,
  type LogRecord,
  logging,
  type Middleware,
  rateLimit,
  resultCap,
  retry,
  type Spill,
  ToolError,
  timeout,
  toolset,
} from "../src/index.ts";
import { echo } from "./fixture-tools.ts";
import { probe, turn, until } from "./tools.ts";

const directory = "/w";

function wrap(tool: AnyTool, ...middleware: Middleware[]): AnyTool {
  const [wrapped] = toolset(tool).wrap(...middleware).tools;
  if (wrapped === undefined) throw new Error("no tool");
  return wrapped;
}

const waits = probe(
  (_input, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
);
const hangs = probe(() => new Promise(() => undefined));

describe("wrap", () => {
  it("the first is outermost, also over two wraps", async () => {
    const order: string[] = [];
    const note =
      (name: string): Middleware =>
      async (call, next) => {
        order.push(`${name} in`);
        const result = await next(call);
        order.push(`${name} out`);
        return result;
      };
    await wrap(wrap(echo as AnyTool, note("c")), note("a"), note("b")).call({ text: "x" });
    expect(order).toEqual(["a in", "b in", "c in", "c out", "b out", "a out"]);
  });
  it("one that throws gives internal, a ToolError its code", async () => {
    expect((await wrap(echo as AnyTool, () => Promise.reject(new Error("boom"))).call({ text: "x" })).text).toBe(
      "internal: a middleware failed: boom",
    );
    expect(
      await wrap(echo as AnyTool, () => {
        throw new ToolError("unavailable", "down");
      }).call({ text: "x" }),
    ).toMatchObject({ error: { code: "unavailable" } });
  });
  it("one that calls next twice is an error", async () => {
    let ran = 0;
    const counted = probe(() => ({ value: ++ran }));
    const twice: Middleware = async (call, next) => {
      await next(call);
      return next(call);
    };
    expect((await wrap(counted, twice).call({})).text).toBe(
      "internal: a middleware failed: a middleware called `next` twice; only `retry` may",
    );
    expect(ran).toBe(1);
  });
  it("a text over the tool's limit is cut after all middleware, whether it passes the promise on or a result", async () => {
    const seen: number[] = [];
    const passes: Middleware = (call, next) => next(call);
    const looks: Middleware = async (call, next) => {
      const result = await next(call);
      seen.push(result.text.length);
      return result;
    };
    const long = probe(() => ({ value: "x".repeat(5_000) }), { maxTextChars: 1_000 });
    const fails = probe(() => Promise.reject(new ToolError("conflict", "y".repeat(5_000))), { maxTextChars: 1_000 });
    const unknown = probe(() => ({ value: 0 }), {
      maxTextChars: 200,
      shape: { a: z.enum(["b".repeat(400)]).describe("a") },
    });
    for (const [tool, raw] of [
      [long, {}],
      [fails, {}],
      [unknown, { a: "c" }],
    ] as const) {
      const plain = await tool.call(raw);
      expect(plain.text.length).toBeLessThanOrEqual(tool.maxTextChars);
      for (const middleware of [[passes], [passes, passes, passes], [passes, looks, passes], [looks]])
        expect((await wrap(tool, ...middleware).call(raw)).text).toBe(plain.text);
    }
    expect(seen.every((length) => length > 200)).toBe(true);
    expect(seen).toHaveLength(6);
  });
  it("core uses the signal, ask and progress of the copy that is passed on", async () => {
    const asked: string[] = [];
    const sent: unknown[] = [];
    const controller = new AbortController();
    const seen = probe(async (_input, context) => {
      context.progress({ progress: 1 });
      await context.ask({ permission: "file.write", resources: ["/w/a"], reason: "r" });
      return { value: context.signal === controller.signal };
    });
    const change: Middleware = (call, next) => {
      const { context } = call;
      const ask: typeof context.ask = (request) => {
        asked.push(request.permission);
        return context.ask(request);
      };
      return next({
        ...call,
        context: { ...context, signal: controller.signal, ask, progress: (update) => sent.push(update) },
      });
    };
    expect(await wrap(seen, change).call({}, { directory })).toMatchObject({ data: { value: true } });
    expect([asked, sent]).toEqual([["file.write"], [{ progress: 1 }]]);
  });
});

describe("timeout", () => {
  it("stops a tool that listens, and says that it has stopped", async () => {
    const result = await wrap(waits, timeout({ ms: 20 })).call({}, { directory });
    expect(result).toMatchObject({ ok: false, error: { code: "timeout", retryable: true } });
    expect(result.text).toBe("timeout: it did not finish within 20 ms: the call was stopped, and so was the tool");
  });
  it("says of one that does not that it runs on", async () => {
    const result = await wrap(hangs, timeout({ ms: 10, graceMs: 10 })).call({}, { directory });
    expect(result).toMatchObject({ error: { code: "timeout", details: { stillRunning: true } } });
    expect(result.text).toContain("has not stopped within 10 ms: it is still running");
  });
  it("lets a quick tool through, and an outer signal too", async () => {
    expect(await wrap(echo as AnyTool, timeout({ ms: 10_000 })).call({ text: "x" })).toMatchObject({ ok: true });
    const controller = new AbortController();
    const running = wrap(waits, timeout({ ms: 10_000 })).call({}, { directory, signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ error: { code: "cancelled" } });
  });
  it("takes a time of its own per tool", async () => {
    expect(await wrap(waits, timeout({ ms: 60_000, perTool: { probe: 10 } })).call({}, { directory })).toMatchObject({
      error: { code: "timeout" },
    });
  });
  it("does not count time spent waiting for an answer", async () => {
    const asks = probe(async (_input, context) => {
      await context.ask({ permission: "file.write", resources: ["/x"], reason: "r" });
      return { value: 1 };
    });
    const asker: Asker = () => new Promise((answer) => setTimeout(() => answer({ allow: true }), 150));
    vi.useFakeTimers();
    try {
      const running = wrap(asks, timeout({ ms: 40 })).call({}, { directory, asker });
      await vi.runAllTimersAsync();
      expect(await running).toMatchObject({ ok: true });
      const slow = probe(() => new Promise((done) => setTimeout(() => done({ value: 1 }), 150)));
      const counted = wrap(slow, timeout({ ms: 40, graceMs: 10 })).call({}, { directory, asker });
      await vi.runAllTimersAsync();
      expect(await counted).toMatchObject({ ok: false, error: { code: "timeout" } });
    } finally {
      vi.useRealTimers();
    }
  });
  it.each([-1, Number.NaN, 2 ** 31])("refuses %s ms", (ms) => expect(() => timeout({ ms })).toThrow(TypeError));
});

describe("retry", () => {
  const flaky = (
    failures: number,
    error: ToolError,
    options: { readOnly?: boolean; idempotent?: boolean } = { readOnly: true },
  ) => {
    let calls = 0;
    const tool = probe(() => {
      calls += 1;
      if (calls <= failures) throw error;
      return { value: calls };
    }, options);
    return { tool, calls: () => calls };
  };
  const quick = { baseMs: 0 };
  it("tries a retryable failure up to three times", async () => {
    const twice = flaky(2, new ToolError("timeout", "slow"));
    expect(await wrap(twice.tool, retry(quick)).call({})).toMatchObject({ ok: true, data: { value: 3 } });
    const always = flaky(9, new ToolError("timeout", "slow"));
    expect(await wrap(always.tool, retry(quick)).call({})).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(always.calls()).toBe(3);
  });
  it.each([
    ["a failure that is not retryable", new ToolError("not_found", "no"), { readOnly: true }],
    ["a tool that writes and is not idempotent", new ToolError("timeout", "slow"), {}],
  ])("never repeats %s", async (_title, error, options) => {
    const once = flaky(9, error, options);
    await wrap(once.tool, retry(quick)).call({});
    expect(once.calls()).toBe(1);
  });
  it("repeats an idempotent one", async () => {
    const twice = flaky(1, new ToolError("conflict", "busy"), { idempotent: true });
    expect(await wrap(twice.tool, retry(quick)).call({})).toMatchObject({ ok: true });
  });
  it("waits a random part of a doubling time, at most maxMs; retryAfterMs wins", async () => {
    vi.useFakeTimers();
    try {
      const waited = async (error: ToolError, random: number, attempts: number): Promise<number> => {
        const start = Date.now();
        const running = wrap(flaky(attempts - 1, error).tool, retry({ attempts, random: () => random })).call(
          {},
          { directory },
        );
        await vi.runAllTimersAsync();
        await running;
        return Date.now() - start;
      };
      expect(await waited(new ToolError("timeout", "x"), 1, 4)).toBe(250 + 500 + 1_000);
      expect(await waited(new ToolError("timeout", "x"), 0.5, 2)).toBe(125);
      expect(await waited(new ToolError("timeout", "x"), 1, 9)).toBe(250 + 500 + 1_000 + 2_000 + 4_000 + 8_000 * 3);
      expect(await waited(new ToolError("unavailable", "x", { details: { retryAfterMs: 30_000 } }), 0, 2)).toBe(30_000);
    } finally {
      vi.useRealTimers();
    }
  });
  it("abort-4: an abort while waiting ends at once, with one attempt", async () => {
    const always = flaky(9, new ToolError("timeout", "slow"));
    const controller = new AbortController();
    const running = wrap(always.tool, retry({ baseMs: 8_000, random: () => 1 })).call(
      {},
      { directory, signal: controller.signal },
    );
    await until(() => always.calls() === 1);
    await turn();
    controller.abort();
    const result = await running;
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(result.text).toContain("while it waited to try again after: slow");
    expect(always.calls()).toBe(1);
  });
});

describe("rateLimit", () => {
  const clockAt = (now: { value: number }) => ({ now: () => now.value });
  it("is a token bucket on the injected clock", async () => {
    const now = { value: 1_000 };
    const limited = wrap(echo as AnyTool, rateLimit({ perSecond: 2, burst: 3 }));
    const call = () => limited.call({ text: "x" }, { directory, clock: clockAt(now) });
    for (let index = 0; index < 3; index++) expect(await call()).toMatchObject({ ok: true });
    expect(await call()).toMatchObject({
      ok: false,
      error: { code: "unavailable", retryable: true, details: { retryAfterMs: 500 } },
    });
    now.value += 499;
    expect(await call()).toMatchObject({ ok: false });
    now.value += 1;
    expect(await call()).toMatchObject({ ok: true });
    now.value += 60_000;
    for (let index = 0; index < 3; index++) expect(await call()).toMatchObject({ ok: true });
    expect(await call()).toMatchObject({ ok: false });
    now.value -= 120_000;
    expect(await call()).toMatchObject({ ok: false });
  });
  it("limits by key", async () => {
    const limited = wrap(echo as AnyTool, rateLimit({ perSecond: 0.001, burst: 1, key: (call) => call.context.agent }));
    const call = (agent: string) => limited.call({ text: "x" }, { directory, agent });
    expect([await call("a"), await call("b"), await call("a")].map(({ ok }) => ok)).toEqual([true, true, false]);
  });
  it("waits in order of arrival, and an abort gives the turn back", async () => {
    const order: number[] = [];
    const numbered = probe(
      ({ n }) => {
        order.push(n as number);
        return { value: n };
      },
      { shape: { n: z.int().describe("n") } },
    );
    const limited = wrap(numbered, rateLimit({ perSecond: 1, burst: 1, maxWaitMs: 60_000 }));
    const controller = new AbortController();
    const calls = [1, 2, 3].map((n) =>
      limited.call({ n }, { directory, ...(n === 2 ? { signal: controller.signal } : {}) }),
    );
    controller.abort();
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(order).toEqual([1, 3]);
  });
  it.each([{ perSecond: 0 }, { perSecond: 1, burst: 0 }, { perSecond: 1, maxWaitMs: -1 }])("refuses %j", (options) =>
    expect(() => rateLimit(options)).toThrow(TypeError),
  );
});

describe("logging", () => {
  it("says what was called and how it went, never with what", async () => {
    const records: LogRecord[] = [];
    const log = logging({ log: (record) => records.push(record) });
    const fails = probe(
      () => {
        throw new Error("password = hunter2hunter2");
      },
      { shape: { text: z.string().describe("t") } },
    );
    await wrap(echo as AnyTool, log).call(
      { text: "hunter2hunter2" },
      { directory, callId: "c", sessionId: "s", agent: "a", clock: { now: () => 5 } },
    );
    await wrap(fails, log).call({ text: "hunter2hunter2" }, { directory });
    expect(records[0]).toEqual({
      event: "start",
      tool: "echo",
      callId: "c",
      sessionId: "s",
      agent: "a",
      at: 5,
      sizes: { input: 25 },
    });
    expect(records[1]).toEqual({
      event: "end",
      tool: "echo",
      callId: "c",
      sessionId: "s",
      agent: "a",
      at: 5,
      ms: expect.any(Number),
      ok: true,
      sizes: { input: 25, text: 14 },
    });
    expect(records[3]).toMatchObject({
      event: "end",
      ok: false,
      code: "internal",
      stack: expect.stringMatching(/^\s+at .*middleware\.test\.ts/),
    });
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });
});

describe("resultCap", () => {
  const long = probe(() => ({ value: 1 }), { render: () => `${"é".repeat(5_000)}\n${"😀".repeat(5_000)}` });
  it("keeps head and tail within both limits", async () => {
    const { text } = await wrap(long, resultCap({ maxTextChars: 1_000 })).call({});
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text).toMatch(/^é{600,}\n\[… \d+ of 15001 characters left out here\]\n(?:😀)+$/u);
    const bytes = await wrap(long, resultCap({ maxTextBytes: 2_000 })).call({});
    expect(Buffer.byteLength(bytes.text)).toBeLessThanOrEqual(2_000);
  });
  it("is never looser than the tool", async () => {
    const small = probe(() => ({ value: 1 }), { render: () => "x".repeat(500), maxTextChars: 100 });
    expect((await wrap(small, resultCap({ maxTextChars: 400 })).call({})).text.length).toBeLessThanOrEqual(100);
  });
  it("keeps the full text where it can be found, and data whole", async () => {
    const kept: string[] = [];
    const spill: Spill = async (text) => {
      kept.push(text);
      return {
        name: "full.txt",
        mimeType: "text/plain",
        bytes: text.length,
        source: { kind: "file", path: "/w/full.txt" },
      };
    };
    const result = await wrap(long, resultCap({ maxTextChars: 300, spill })).call({});
    expect(result).toMatchObject({ ok: true, data: { value: 1 }, attachments: [{ name: "full.txt" }] });
    expect(result.text).toContain("; the full text is in /w/full.txt]");
    expect(kept).toEqual([`${"é".repeat(5_000)}\n${"😀".repeat(5_000)}`]);
  });
  it("says so when the full text cannot be kept", async () => {
    const result = await wrap(
      long,
      resultCap({ maxTextChars: 300, spill: () => Promise.reject(new Error("disk full")) }),
    ).call({});
    expect(result.text).toContain("; the full text could not be kept: disk full]");
  });
});

describe("approval", () => {
  const answers = (...list: Decision[]) => {
    const asked: Parameters<Asker>[0][] = [];
    const asker: Asker = async (request) => {
      asked.push(request);
      return list[asked.length - 1] ?? { allow: true };
    };
    return { asker, asked };
  };
  const writes = (run: () => unknown = () => 1) =>
    probe(() => ({ value: run() }), { shape: { n: z.int().describe("n") } });

  it("asks for tools that write, with the repaired input, and not for readers", async () => {
    const yes = answers();
    expect(await wrap(writes(), approval(yes)).call({ n: "7" })).toMatchObject({ ok: true });
    expect(yes.asked).toMatchObject([
      { permission: "tool.call", resources: ["probe"], tool: "probe", reason: "Probe", details: { input: { n: 7 } } },
    ]);
    await wrap(echo as AnyTool, approval(yes)).call({ text: "x" });
    expect(yes.asked).toHaveLength(1);
    await wrap(writes(), approval({ ...yes, when: () => false })).call({ n: 1 });
    expect(yes.asked).toHaveLength(1);
  });
  it("a no keeps it from running", async () => {
    let ran = 0;
    const result = await wrap(
      writes(() => ++ran),
      approval(answers({ allow: false, feedback: "not today" })),
    ).call({ n: 1 });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "denied", details: { by: "user", feedback: "not today" } },
    });
    expect(ran).toBe(0);
  });
  it("bad input is refused before anybody is asked", async () => {
    const yes = answers();
    expect(await wrap(writes(), approval(yes)).call({ n: "x" })).toMatchObject({ error: { code: "invalid_input" } });
    expect(yes.asked).toEqual([]);
  });
  it("is bound to call id and exact input, and used once", async () => {
    const yes = answers();
    const tool = wrap(writes(), approval(yes));
    const context = createContext({ directory });
    const call = (n: number, callId: string) => tool.call({ n }, { ...context, callId });
    await call(1, "a");
    await call(2, "a");
    await call(1, "b");
    await call(1, "a");
    expect(yes.asked).toHaveLength(4);
  });
  it("a second question for the same call is answered from the first", async () => {
    let tries = 0;
    const flaky = probe(
      () => {
        tries += 1;
        if (tries < 3) throw new ToolError("timeout", "slow");
        return { value: tries };
      },
      { idempotent: true },
    );
    for (const order of ["inside", "outside"] as const) {
      tries = 0;
      const yes = answers();
      const both = [approval(yes), retry({ baseMs: 0 })];
      const tool = wrap(flaky, ...(order === "inside" ? both : both.reverse()));
      expect(await tool.call({}, { directory, callId: "c" })).toMatchObject({ ok: true, data: { value: 3 } });
      expect(yes.asked, order).toHaveLength(1);
    }
  });
});

it("all together: logging, timeout, retry, rate limit, approval and cap around one call", async () => {
  const records: LogRecord[] = [];
  let tries = 0;
  const tool = probe(
    () => {
      tries += 1;
      if (tries === 1) throw new ToolError("timeout", "slow");
      return { value: tries };
    },
    { idempotent: true, render: () => "x".repeat(1_000) },
  );
  const all = wrap(
    tool,
    logging({ log: (record) => records.push(record) }),
    timeout({ ms: 60_000 }),
    retry({ baseMs: 0 }),
    rateLimit({ perSecond: 1_000 }),
    resultCap({ maxTextChars: 200 }),
    approval({ asker: async () => ({ allow: true }) }),
  );
  const result = await all.call({}, { directory });
  expect(result).toMatchObject({ ok: true, data: { value: 2 } });
  expect(result.text.length).toBeLessThanOrEqual(200);
  expect(records.map(({ event, ok }) => [event, ok])).toEqual([
    ["start", undefined],
    ["end", true],
  ]);
});
