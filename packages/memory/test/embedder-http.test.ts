import { createServer, type ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createSemanticMemory, type Embedder } from "../src/index.ts";
import { caller, closeAfterTest, dataOf, setting } from "./setting.ts";

const asked = z.object({ texts: z.array(z.string()) });
const given = z.object({ vectors: z.array(z.array(z.number())) });
const colours = ["red", "green", "blue"];
const vectorOf = (text: string) => colours.map((colour) => (text.includes(colour) ? 1 : 0.01));

type Answer = (response: ServerResponse, texts: string[]) => void;

/** An embedder that is a real server on loopback, as hosts have them; `answer` is how it behaves today. */
async function served() {
  const answer: Answer = (response, texts) => void response.end(JSON.stringify({ vectors: texts.map(vectorOf) }));
  const state = { answer, requests: 0, aborted: 0 };
  const server = createServer((request, response) => {
    let body = "";
    response.on("close", () => {
      if (!response.writableEnded) state.aborted++;
    });
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      state.requests++;
      state.answer(response, asked.parse(JSON.parse(body)).texts);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/embed`;
  const embedder: Embedder = {
    model: "colours",
    dimensions: 3,
    async embed(texts, _kind, signal) {
      const body = JSON.stringify({ texts });
      const response = await fetch(url, { method: "POST", body, ...(signal && { signal }) });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return given.parse(await response.json()).vectors.map((vector) => Float32Array.from(vector));
    },
  };
  return { state, embedder, server };
}

interface Data {
  hits: { title: string; why: { vector: number | null } }[];
  degraded: { part: string; code: string; message: string }[];
}

describe("an embedder behind HTTP", () => {
  it("finds by meaning, and the stats say that nothing is pending", async () => {
    const { embedder } = await served();
    const { W, call, directory } = setting({ embedder });
    await W("sky", "it is blue above");
    await W("grass", "it is green below");
    const found = dataOf(await call("memory_recall", { query: "blueish?" })) as unknown as Data;
    expect(found).toMatchObject({ hits: [{ title: "sky" }, { title: "grass" }], degraded: [] });
    const fragments = caller(closeAfterTest(createSemanticMemory({ embedder })), directory);
    expect(dataOf(await fragments("memory_semantic_stats", {}))).toMatchObject({
      pendingVectors: 0,
      embedder: { model: "colours", dimensions: 3 },
    });
    expect(dataOf(await fragments("memory_semantic_search", { query: "blueish?" })).mode).toBe("hybrid");
  });

  it.each([
    ["fails", (response: ServerResponse) => void response.writeHead(500).end(), "upstream", "HTTP 500"],
    ["cuts the line", (response: ServerResponse) => void response.destroy(), "upstream", "fetch failed"],
    ["answers no JSON", (response: ServerResponse) => void response.end("<html>"), "upstream", "JSON"],
    [
      "gives vectors of another size",
      (response: ServerResponse, texts: string[]) =>
        void response.end(JSON.stringify({ vectors: texts.map(() => [1, 2, 3, 4, 5]) })),
      "upstream",
      "5 dimensions instead of 3",
    ],
    [
      "gives too few vectors",
      (response: ServerResponse) => void response.end('{"vectors":[]}'),
      "upstream",
      "0 vectors for 1 texts",
    ],
    ["never answers", () => undefined, "timeout", "took over 5000 ms"],
  ] as const)(
    "that %s leaves the words' answer, shown as degraded, and what it missed is made up for later",
    {
      timeout: 120_000,
    },
    async (_, answer, code, message) => {
      const { state, embedder } = await served();
      const well = state.answer;
      const { W, call, directory } = setting({ embedder });
      const fragments = caller(closeAfterTest(createSemanticMemory({ embedder })), directory);
      state.answer = answer;
      await W("sky", "it is blue");
      expect(dataOf(await fragments("memory_semantic_stats", {})).pendingVectors).toBe(1);
      const recalled = await call("memory_recall", { query: "sky" });
      expect(dataOf(recalled)).toMatchObject({
        hits: [{ title: "sky", why: { vector: null } }],
        degraded: [{ part: "vectors", code, message: expect.stringContaining(message) }],
      });
      expect(recalled.text).toMatch(/Note: the search by meaning failed \(\w+: .*\); these are the hits by words/);
      if (code === "timeout") expect(state.aborted).toBeGreaterThan(0);
      else {
        const searched = await fragments("memory_semantic_search", { query: "sky" });
        expect(dataOf(searched)).toMatchObject({ mode: "lexical", hits: [{ title: "sky" }], degraded: [{ code }] });
        expect(searched.text).toContain("failed");
      }
      state.answer = well;
      const found = dataOf(await call("memory_recall", { query: "blueish?" })) as unknown as Data;
      expect(found).toMatchObject({ hits: [{ title: "sky" }], degraded: [] });
      expect(dataOf(await fragments("memory_semantic_stats", {})).pendingVectors).toBe(0);
    },
  );

  it("is called off with the call", async () => {
    const { state, embedder } = await served();
    const { W, call } = setting({ embedder });
    await W("sky", "it is blue");
    const controller = new AbortController();
    state.answer = () => void controller.abort();
    const result = await call("memory_recall", { query: "sky" }, { signal: controller.signal });
    expect(result.ok === false && result.error.code).toBe("cancelled");
  });

  it("gets at most 64 texts at a time, until none is pending", async () => {
    const { state, embedder } = await served();
    const path = setting().path;
    const plain = setting({ path });
    for (let i = 0; i < 70; i++) await plain.W(`t${i}`, `red ${i}`);
    const sizes: number[] = [];
    const well = state.answer;
    state.answer = (response, texts) => {
      sizes.push(texts.length);
      well(response, texts);
    };
    const { R } = setting({ path, embedder });
    await R("first");
    await R("second");
    expect(sizes).toEqual([64, 1, 6, 1]);
  });
});
