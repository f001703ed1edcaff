import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { type AnyTool, type ProgressUpdate, toolset } from "@toolhaft/core";
import { runs } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { afterAll, describe, expect, it } from "vitest";
import { createServerV2 } from "../src/bind-v2.ts";
import { createProgressTable } from "../src/bridge/progress.ts";
import { createMcpHandlers, fromMcp } from "../src/index.ts";
import { connect, type TestClient } from "./clients.ts";

const clients: TestClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

describe("progress through the bridge", () => {
  it("loses no update that was sent right before the answer", async () => {
    // A server without our pause: bursts and the answer leave it in one turn.
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    theirs.onmessage = (message) => {
      if (!("method" in message) || !("id" in message)) return;
      const { id, params } = message;
      const token = (params as { _meta?: { progressToken?: string } } | undefined)?._meta?.progressToken;
      if (message.method === "initialize") {
        const serverInfo = { name: "burst", version: "1" };
        void theirs.send({
          jsonrpc: "2.0",
          id,
          result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
        });
        return;
      }
      for (let progress = 1; progress <= 3; progress++)
        void theirs.send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: token ?? "", progress },
        });
      void theirs.send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } });
    };
    await theirs.start();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(ours);
    const table = createProgressTable();
    client.setNotificationHandler("notifications/progress", ({ params }) => table.handle(params));
    const calls = runs(3_000);
    let seen = 0;
    for (let call = 0; call < calls; call++) {
      const numbers: (number | undefined)[] = [];
      const progress = table.begin(({ progress: number }: ProgressUpdate) => void numbers.push(number));
      await client.callTool({ name: "burst", arguments: {}, _meta: { progressToken: progress.token } });
      await progress.end();
      expect(numbers).toEqual([1, 2, 3]);
      seen += numbers.length;
    }
    expect(seen).toBe(calls * 3);
    await client.close();
  });

  it("hands on what a bridged tool reports, and nothing of another call", async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await createServerV2(createMcpHandlers(toolset(fixtureTools())), "legacy").connect(theirs);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(ours);
    const family = await fromMcp(client, { prefix: "" });
    const slow = family.tools.find(({ name }) => name === "slow") as AnyTool;
    const seen: string[][] = [[], []];
    const controllers = seen.map(() => new AbortController());
    const calls = seen.map((messages, index) => {
      const first = new Promise<void>((resolve) => {
        void slow
          .call(
            { steps: index + 1 },
            {
              signal: controllers[index]?.signal ?? new AbortController().signal,
              progress: ({ progress, total }) => {
                messages.push(`${progress}/${total}`);
                resolve();
              },
            },
          )
          .then(() => resolve());
      });
      return first;
    });
    await Promise.all(calls);
    expect(seen.map(([first]) => [first])).toEqual([["1/1"], ["1/2"]]);
    for (const controller of controllers) controller.abort(new Error("enough"));
    await family.close();
    await client.close();
  });

  it.each(["v1", "v2 in 2025"] as const)("24: our server echoes a token as number and as text to %s", async (kind) => {
    const client = await connect(kind);
    clients.push(client);
    for (const token of [7, "seven"]) {
      const before = client.progress.length;
      await client.call("burst", { steps: [1] }, { token });
      expect(client.progress.slice(before).map(({ progressToken }) => progressToken)).toEqual([token]);
    }
  });
});
