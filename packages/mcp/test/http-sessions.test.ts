import { setTimeout as wait } from "node:timers/promises";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { toolset } from "@toolhaft/core";
import { createMeta } from "@toolhaft/meta";
import { fakeClock, runs, tempWorkspace } from "@toolhaft/testing";
import { type FixtureLog, fixtureTools } from "@toolhaft/testing/fixture-tools";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type HttpOptions, type HttpServing, serveHttp } from "../src/http.ts";
import type { ServeOptions } from "../src/types.ts";
import { callBody, goodHeaders, initialize, rawRequest } from "./http-request.ts";

const workspace = await tempWorkspace();
const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  await workspace.remove();
});

async function serve(options: HttpOptions & ServeOptions = {}, log: FixtureLog = { ran: [] }): Promise<HttpServing> {
  const serving = await serveHttp(toolset(fixtureTools({ log })), {
    directory: workspace.directory,
    onError: () => undefined,
    ...options,
  });
  cleanups.push(() => serving.close());
  return serving;
}

async function clientOf(url: string, token: string | undefined, era: "2025" | "2026", options: ClientOptions = {}) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era === "2026" ? { pin: "2026-07-28" } : "legacy" }, ...options },
  );
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  cleanups.push(() => client.close());
  return client;
}

const textOf = ({ content }: { content?: unknown }) => (content as { text?: string }[])[0]?.text ?? "";

/** One session by hand: its id. */
async function beginSession(url: string, token: string | undefined): Promise<string> {
  const { headers, status } = await rawRequest(url, { headers: goodHeaders(token), body: initialize });
  expect(status).toBe(200);
  return String(headers["mcp-session-id"]);
}

describe.each(["2025", "2026"] as const)("two clients at once, in the era of %s", (era) => {
  it("http-2: neither sees the other's answer, progress or loaded tools", async () => {
    const tokens = ["a".repeat(32), "b".repeat(32)];
    const lazy = createMeta({ tools: toolset(fixtureTools()) });
    const { url } = await serve({ token: tokens, lazy });
    // Sessions keep 2025 clients apart; in 2026 the token does.
    const [slow, quick] = await Promise.all([
      clientOf(url, tokens[0], era),
      clientOf(url, era === "2025" ? tokens[0] : tokens[1], era),
    ]);
    await slow.callTool({ name: "tool_load", arguments: { names: ["slow", "echo"] } });
    expect((await quick.listTools()).tools.map(({ name }) => name)).toEqual(["tool_search", "tool_load", "tool_call"]);
    await quick.callTool({ name: "tool_load", arguments: { names: ["echo"] } });
    expect((await slow.listTools()).tools.map(({ name }) => name)).toContain("slow");
    expect((await quick.listTools()).tools.map(({ name }) => name)).not.toContain("slow");
    const strays: string[] = [];
    quick.onerror = ({ message }) => void strays.push(message);
    let updates = 0;
    quick.fallbackNotificationHandler = async ({ method }) => void strays.push(method);
    for (let round = 0; round < runs(2_000); round++) {
      const controller = new AbortController();
      let reported: () => void = () => undefined;
      const progress = new Promise<void>((resolve) => {
        reported = () => {
          updates++;
          resolve();
        };
      });
      const running = slow.callTool(
        { name: "slow", arguments: { steps: 1 } },
        { signal: controller.signal, onprogress: reported },
      );
      running.catch(() => undefined);
      const answers = await Promise.all(
        [0, 1, 2].map((part) => quick.callTool({ name: "echo", arguments: { text: `${round}.${part}` } })),
      );
      expect(answers.map(textOf)).toEqual([`${round}.0`, `${round}.1`, `${round}.2`]);
      await progress;
      controller.abort(new Error("enough"));
      await expect(running).rejects.toThrow();
    }
    expect(updates).toBe(runs(2_000));
    expect(strays).toEqual([]);
  });

  it("stops the call when its client's connection ends", async () => {
    const log: FixtureLog = { ran: [] };
    const aborted: unknown[] = [];
    const tools = toolset(fixtureTools({ log })).wrap(async (call, next) => {
      call.context.signal.addEventListener("abort", () => void aborted.push(call.tool.name));
      return next(call);
    });
    const serving = await serveHttp(tools, { directory: workspace.directory, onError: () => undefined });
    cleanups.push(() => serving.close());
    const client = await clientOf(serving.url, serving.token, era);
    client.callTool({ name: "slow", arguments: {} }).catch(() => undefined);
    await vi.waitFor(() => expect(log.ran).toHaveLength(1));
    await client.close();
    await vi.waitFor(() => expect(aborted).toEqual(["slow"]));
  });

  it("runs so many calls at a time and tells one more to wait", async () => {
    const log: FixtureLog = { ran: [] };
    const { url, token } = await serve({ maxCalls: 2 }, log);
    const client = await clientOf(url, token, era);
    const controller = new AbortController();
    const slow = [1, 2].map(() => client.callTool({ name: "slow", arguments: {} }, { signal: controller.signal }));
    for (const call of slow) call.catch(() => undefined);
    await vi.waitFor(() => expect(log.ran).toHaveLength(2));
    const third = await client.callTool({ name: "echo", arguments: { text: "a" } });
    expect(third.isError).toBe(true);
    expect(textOf(third)).toMatch(/^unavailable: 2 calls are running/);
    controller.abort(new Error("enough"));
    await vi.waitFor(async () =>
      expect(textOf(await client.callTool({ name: "echo", arguments: { text: "a" } }))).toBe("a"),
    );
  });
});

describe("sessions of 2025 clients", () => {
  it("closes the stream of a cancelled call, which is never answered", async () => {
    const log: FixtureLog = { ran: [] };
    const { url, token } = await serve({}, log);
    const headers = goodHeaders(token, { "mcp-session-id": await beginSession(url, token) });
    const call = rawRequest(url, { headers, body: callBody("slow", {}, 7) });
    await vi.waitFor(() => expect(log.ran).toHaveLength(1));
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await rawRequest(url, { headers, body: JSON.stringify(cancel) })).status).toBe(202);
    expect((await call).text).not.toContain('"result"');
  });

  it("a session id is no credential: another token's session is as good as none", async () => {
    const log: FixtureLog = { ran: [] };
    const tokens = ["a".repeat(32), "b".repeat(32)];
    const { url } = await serve({ token: tokens }, log);
    const session = await beginSession(url, tokens[0]);
    const call = (token: string | undefined) =>
      rawRequest(url, {
        headers: goodHeaders(token, { "mcp-session-id": session }),
        body: callBody("echo", { text: "mine" }),
      });
    expect((await call(tokens[1])).status).toBe(404);
    expect((await call(undefined)).status).toBe(401);
    expect(log.ran).toEqual([]);
    expect((await call(tokens[0])).text).toContain("mine");
  });

  it("ends by DELETE, and is gone then", async () => {
    const { url, token } = await serve();
    const headers = goodHeaders(token, { "mcp-session-id": await beginSession(url, token) });
    expect((await rawRequest(url, { method: "DELETE", headers })).status).toBe(200);
    expect((await rawRequest(url, { headers, body: callBody("echo", { text: "a" }) })).status).toBe(404);
  });

  it("ends after a while without a request, but not in the middle of one", async () => {
    const log: FixtureLog = { ran: [] };
    const clock = fakeClock();
    const { url, token } = await serve({ idleMs: 50, clock }, log);
    const [busy, idle] = await Promise.all([beginSession(url, token), beginSession(url, token)]);
    const headers = goodHeaders(token, { "mcp-session-id": busy });
    const slow = rawRequest(url, { headers, body: callBody("slow", {}, 9) });
    await vi.waitFor(() => expect(log.ran).toHaveLength(1));
    clock.advance(51);
    const status = async (session: string) =>
      (
        await rawRequest(url, {
          method: "GET",
          headers: { ...goodHeaders(token), accept: "text/plain", "mcp-session-id": session },
        })
      ).status;
    const gone = async () => {
      const found = await status(idle);
      // Looking at it was a request, too.
      clock.advance(51);
      expect(found).toBe(404);
    };
    await vi.waitFor(gone, { interval: 200, timeout: 20_000 });
    expect(await status(busy)).toBe(406);
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } };
    await rawRequest(url, { headers, body: JSON.stringify(cancel) });
    await slow;
  });

  it("makes room by ending the one at rest for longest, and refuses when all are at work", async () => {
    const log: FixtureLog = { ran: [] };
    const { url, token } = await serve({ maxSessions: 2 }, log);
    const first = await beginSession(url, token);
    await wait(5);
    const second = await beginSession(url, token);
    const third = await beginSession(url, token);
    const call = (session: string, name: string) =>
      rawRequest(url, {
        headers: goodHeaders(token, { "mcp-session-id": session }),
        body: callBody(name, name === "echo" ? { text: "a" } : {}),
      });
    expect((await call(first, "echo")).status).toBe(404);
    const slow = [call(second, "slow"), call(third, "slow")];
    await vi.waitFor(() => expect(log.ran).toHaveLength(2));
    const refused = await rawRequest(url, { headers: goodHeaders(token), body: initialize });
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBeTruthy();
    await servingsOf(url);
    await Promise.all(slow);
  });

  it("closing ends running calls and closes the tools once", async () => {
    const log: FixtureLog = { ran: [] };
    let closes = 0;
    const set = toolset(fixtureTools({ log }));
    const serving = await serveHttp(
      { ...set, close: async () => void closes++ },
      { directory: workspace.directory, onError: () => undefined },
    );
    const headers = goodHeaders(serving.token, { "mcp-session-id": await beginSession(serving.url, serving.token) });
    const call = rawRequest(serving.url, { headers, body: callBody("slow", {}) });
    await vi.waitFor(() => expect(log.ran).toHaveLength(1));
    await serving.close();
    await serving.closed;
    await serving.close();
    await call;
    expect(closes).toBe(1);
    await expect(rawRequest(serving.url, { headers, body: initialize })).rejects.toThrow();
  });
});

/** Ends what a test left running, by closing its server. */
async function servingsOf(_url: string): Promise<void> {
  await cleanups.pop()?.();
}
