import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentCard } from "@a2a-js/sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { type A2aRunnerOptions, a2aRunner } from "../src/a2a.ts";
import { type Desk, openDesk } from "./desk.ts";
import { program } from "./programs.ts";
import { eventually } from "./runs.ts";

const loopback = { allow: ["127.0.0.1"] };
const lanes = { default: { limit: 4, reservedSync: 0 } };

interface Server {
  url: string;
  port: number;
  messages(): { text: string; known: boolean; contextId: string; taskId: string; references: string[] }[];
  program: ReturnType<typeof program>;
}

/** An agent over the protocol's own SDK, as a program of its own. */
async function serve(folder: string, options: object = {}, port = 0): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const running = program("a2a-server.mjs", [folder, String(port), JSON.stringify(options)]);
  await running.said((line) => line.startsWith("ready "));
  const url = running.lines.find((line) => line.startsWith("ready "))?.slice("ready ".length) ?? "";
  return {
    url,
    port: Number(new URL(url).port),
    messages: () =>
      readFileSync(`${folder}/messages`, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    program: running,
  };
}

async function remote(
  server: object = {},
  options: Partial<A2aRunnerOptions> = {},
  more: object = {},
): Promise<Desk & { server: Server; folder: string; text(id: string): Promise<unknown> }> {
  const desk = await openDesk();
  const folder = desk.workspace.path("agent");
  const running = await serve(folder, server);
  const runner = a2aRunner({ card: running.url, net: loopback, pollMs: 20, ...options });
  const own = await openDesk(
    { agents: [{ name: "far", description: "Elsewhere.", runner }], lanes, ...more },
    {},
    desk.workspace,
  );
  /** The last text that came from the agent. */
  const text = async (id: string) => {
    const { store } = own.tasks.api.backend(own.workspace.directory);
    const { items } = await store.events(id, { kinds: ["activity"], limit: 100 });
    return items.findLast(({ data }) => data.kind === "text")?.data.text;
  };
  return { ...own, server: running, folder, text };
}

const ask = (prompt: string, more: object = {}) => ({ subagent: "far", prompt, run_in_background: false, ...more });

describe("an agent over A2A", () => {
  it.each([
    ["a stream over JSON-RPC", { streaming: true, transport: "JSONRPC" }],
    ["looks over JSON-RPC", { streaming: false, transport: "JSONRPC" }],
    ["a stream over HTTP and JSON", { streaming: true, transport: "HTTP+JSON" }],
    ["looks over HTTP and JSON", { streaming: false, transport: "HTTP+JSON" }],
  ])("gives its answer by %s", async (_, options) => {
    const desk = await remote(options);
    const { taskId, outcome, result } = await desk.data<{
      taskId: string;
      outcome: string;
      result: { text: string };
    }>("dispatch", ask("say thinking\nanswer one\nanswer and two"));
    expect(outcome).toBe("finished");
    expect(result.text).toBe("oneand two");
    const task = await desk.task(taskId);
    expect(task.sessionId).toMatch(/^a2a:[^:]+:[^:]+$/);
    expect(task.usage?.inputTokens ?? null).toBeNull();
  });

  it("takes an answer that is a message and no task, data as JSON, and a status text where there is no artifact", async () => {
    const desk = await remote();
    const text = async (prompt: string) =>
      (await desk.data<{ result: { text: string } }>("dispatch", ask(prompt))).result.text;
    expect(await text("only-message")).toBe("just an answer");
    expect(await text('data {"found":2}')).toBe('{"found":2}');
  });

  it("an empty answer is no success; failed and rejected tell why, with what was there", async () => {
    const desk = await remote();
    const call = (prompt: string) => desk.call("dispatch", ask(prompt));
    const nothing = await call("sleep 1");
    expect(nothing).toMatchObject({ ok: false, error: { code: "upstream", details: { reason: "no_result" } } });
    const failed = await call("answer half\nfail the model is gone");
    expect(failed).toMatchObject({
      ok: false,
      error: { details: { reason: "runner_failed", partial: { text: "half" } } },
    });
    expect(failed.text).toContain("the model is gone");
    const rejected = await call("reject not my trade");
    expect(rejected).toMatchObject({ ok: false, error: { details: { reason: "runner_failed" } } });
    expect(rejected.text).toContain("the agent rejected the task: not my trade");
  });

  it("takes a stream up again that was dropped, and counts nothing twice", async () => {
    const desk = await remote();
    const { result } = await desk.data<{ result: { text: string } }>(
      "dispatch",
      ask("answer before,\nsleep 50\ndrop\nsleep 300\nanswer after"),
    );
    expect(result.text).toBe("before,after");
    expect(desk.server.messages()).toHaveLength(1);
  });

  it("goes on after the agent's server was killed and came back", async () => {
    const desk = await remote();
    const id = await desk.launch("far", "answer half\nhang");
    await desk.server.program.said((line) => line.startsWith("hanging "));
    await desk.until(id, "running");
    await desk.server.program.kill();
    const back = await serve(desk.folder, {}, desk.server.port);
    const task = await desk.until(id, "completed", "error");
    expect(task).toMatchObject({ status: "completed", attempt: 1, result: { head: "finished after the restart" } });
    expect(back.messages()).toHaveLength(1);
  });

  it("a task that the agent has lost ends with what had come", async () => {
    const desk = await remote();
    const id = await desk.launch("far", "answer half\nhang");
    await desk.server.program.said((line) => line.startsWith("hanging "));
    await eventually(async () => (await desk.text(id)) === "half");
    await desk.server.program.kill();
    await serve(desk.workspace.path("other"), {}, desk.server.port);
    const task = await desk.until(id, "error");
    expect(task.end?.message).toContain("does not know its task");
    expect(task.result).toMatchObject({ head: "half", partial: true });
  });

  it.each([
    ["ask", "input"],
    ["auth", "credentials"],
  ])("%s: a question pauses it, and the answer goes into the same task", async (order) => {
    const desk = await remote();
    const id = await desk.launch("far", `${order} which port?`);
    await desk.until(id, "awaiting_approval");
    const { approvals } = await desk.data<{ approvals: { id: string; title: string; agent: string }[] }>(
      "dispatch_status",
      {},
    );
    expect(approvals).toMatchObject([{ title: "which port?", agent: "far" }]);
    expect(await desk.dispatch.api.approve(id, { human: "ann" }, { comment: "5433" })).toMatchObject({ ok: true });
    const task = await desk.until(id, "completed", "error");
    expect(task).toMatchObject({ status: "completed", attempt: 1 });
    expect(task.result?.head).toContain("heard: Your request was approved: 5433");
    const [first, second] = desk.server.messages();
    expect(second).toMatchObject({ known: true, taskId: first?.taskId, contextId: first?.contextId });
  });

  it("is cancelled at the agent when it is cancelled here, and when a limit ends it", async () => {
    const desk = await remote();
    const id = await desk.launch("far", "answer half\nhang");
    await desk.server.program.said((line) => line.startsWith("hanging "));
    await eventually(async () => (await desk.text(id)) === "half");
    await desk.call("dispatch_cancel", { task_id: id });
    expect(await desk.until(id, "cancelled")).toMatchObject({ result: { head: "half", partial: true } });
    await desk.server.program.said((line) => line.startsWith("cancelled "));
    const slow = await desk.launch("far", "hang", { timeout_ms: 300 });
    expect((await desk.until(slow, "timeout")).end?.reason).toBe("wall_timeout");
    await desk.server.program.said((line) => line.startsWith("cancelled "), 2);
  });

  it("a continued one is a new task in the same context, which names the one before", async () => {
    const desk = await remote();
    const first = await desk.data<{ taskId: string }>("dispatch", ask("answer one"));
    const second = await desk.data<{ taskId: string; continues: string }>(
      "dispatch",
      ask("answer two", { session_id: first.taskId }),
    );
    expect(second.continues).toBe(first.taskId);
    const [one, two] = desk.server.messages();
    expect(two).toMatchObject({ contextId: one?.contextId, references: [one?.taskId], known: false });
    expect(two?.taskId).not.toBe(one?.taskId);
  });

  it("is picked up by another dispatcher when the one that followed it is gone, and not sent twice", async () => {
    const desk = await remote();
    const id = await desk.launch("far", "answer half\nhang");
    await desk.server.program.said((line) => line.startsWith("hanging "));
    await eventually(async () => (await desk.tasks.api.backend(desk.workspace.directory).store.terms(id))?.handle);
    // A killed one renews no more: its claim is taken from under it.
    const { queue } = desk.tasks.api.backend(desk.workspace.directory);
    const held = await desk.task(id);
    await queue.renew([{ taskId: id, fence: held.fence }], 1);
    await eventually(async () => (await desk.task(id)).attempt === 2);
    await desk.server.program.kill();
    await serve(desk.folder, {}, desk.server.port);
    expect(await desk.until(id, "completed", "error")).toMatchObject({ status: "completed", attempt: 2 });
  });

  it("a retried one is asked again, though the agent still has the old task", async () => {
    const desk = await remote();
    const { taskId } = await desk.data<{ taskId: string }>("dispatch", ask("answer one"));
    await desk.data("task_retry", { task_id: taskId, modify_prompt: "answer better" });
    await eventually(async () => (await desk.task(taskId)).attempt === 2);
    expect((await desk.until(taskId, "completed")).result?.head).toContain("better");
    expect(desk.server.messages()).toHaveLength(2);
  });
});

describe("the way to the agent", () => {
  it("a private address needs to be allowed, and the card cannot lead elsewhere", async () => {
    const refused = await remote({}, { net: {} });
    const result = await refused.call("dispatch", ask("answer x"));
    expect(result).toMatchObject({
      ok: false,
      error: { code: "unavailable", details: { reason: "runner_unavailable" } },
    });
    expect(result.text).toMatch(/allow it with options\.net\.allow \["127\.0\.0\.1:\d+"\]|loopback/);
    const elsewhere = await remote({ other: "http://169.254.169.254/latest" });
    const second = await elsewhere.call("dispatch", ask("answer x"));
    expect(second).toMatchObject({ ok: false, error: { details: { reason: "runner_unavailable" } } });
    expect((await elsewhere.task(String(second.ok ? "" : second.error.details?.taskId))).attempt).toBe(1);
  });

  it("headers go to the origin of the card and to no other", async () => {
    const heard: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const headers = { Authorization: "Bearer secret" };
    const own = await remote({ token: "Bearer secret" }, { headers: async () => headers });
    const { result } = await own.data<{ result: { text: string } }>("dispatch", ask("answer let in"));
    expect(result.text).toBe("let in");
    const away = await remote({ other: `http://127.0.0.1:${port}/a2a` }, { headers });
    expect(await away.call("dispatch", ask("answer x"))).toMatchObject({ ok: false });
    expect(heard.length).toBeGreaterThan(0);
    expect(new Set(heard)).toEqual(new Set([undefined]));
  });

  it("a fetch of the host's own is used, and a card that is given is not fetched", async () => {
    const seen: string[] = [];
    const counting: typeof fetch = (input, init) => {
      seen.push(input instanceof Request ? input.url : String(input));
      return fetch(input, init);
    };
    const desk = await remote({}, { fetch: counting });
    await desk.data("dispatch", ask("answer x"));
    expect(seen[0]).toBe(`${desk.server.url}/.well-known/agent-card.json`);
    const card = (await (await fetch(`${desk.server.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    seen.length = 0;
    const runner = a2aRunner({ card, fetch: counting });
    const given = await openDesk({ agents: [{ name: "far", description: "x", runner }] });
    await given.data("dispatch", ask("answer x"));
    expect(seen.filter((url) => url.includes(".well-known"))).toEqual([]);
    const byFile = a2aRunner({ card: `${desk.server.url}/.well-known/agent-card.json`, fetch: counting });
    const file = await openDesk({ agents: [{ name: "far", description: "x", runner: byFile }] });
    await file.data("dispatch", ask("answer x"));
  });

  it("an agent that is not there is unavailable and tried again, one that speaks otherwise is told", async () => {
    const nobody = a2aRunner({ card: "http://127.0.0.1:9", net: loopback });
    const desk = await openDesk({ agents: [{ name: "far", description: "x", runner: nobody, maxAttempts: 1 }] });
    const result = await desk.call("dispatch", ask("answer x"));
    expect(result).toMatchObject({
      ok: false,
      error: { code: "unavailable", details: { reason: "runner_unavailable" } },
    });
    const page = createServer((_, response) => response.end("<html>"));
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const { port } = page.address() as AddressInfo;
    const html = a2aRunner({ card: `http://127.0.0.1:${port}`, net: loopback });
    const odd = await openDesk({ agents: [{ name: "far", description: "x", runner: html, maxAttempts: 1 }] });
    expect(await odd.call("dispatch", ask("answer x"))).toMatchObject({ ok: false, error: { code: "unavailable" } });
  });

  it("refuses a time that is none", () => {
    expect(() => a2aRunner({ card: "http://x", pollMs: 0 })).toThrow(/pollMs is 0/);
  });
});
