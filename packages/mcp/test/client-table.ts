import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, clientKinds, connect, type TestClient, type Wire } from "./clients.ts";

const yes: Answer = { action: "accept", content: { decision: "allow once" } };
const forSession: Answer = { action: "accept", content: { decision: "allow for this session" } };
const no: Answer = { action: "decline" };

/** What every kind of client finds, whatever carries the messages. */
export function clientTable(wire: Wire): void {
  describe.each(clientKinds)("a client of %s", (kind) => {
    let workspace: TempWorkspace;
    let client: TestClient;
    let answers: Answer[] = [];
    const questions: string[] = [];
    let silent: { server: Server; sockets: Set<Socket>; port: number };

    beforeAll(async () => {
      workspace = await tempWorkspace();
      silent = await silentServer();
      client = await connect(kind, {
        wire,
        cwd: workspace.directory,
        server: { slowPort: silent.port },
        elicit: (message) => {
          questions.push(message);
          return answers.shift() ?? no;
        },
      });
    });
    afterAll(async () => {
      await client.close();
      silent.server.close();
      await workspace.remove();
    });

    it("lists every tool with title, schema and all four hints", async () => {
      const tools = await client.list();
      expect(tools.map(({ name }) => name).slice(0, 6)).toEqual([
        "echo",
        "defaults",
        "fails",
        "slow",
        "asks",
        "changes_files",
      ]);
      for (const tool of tools) {
        expect(tool.title).toBeTruthy();
        expect(tool.annotations).toEqual({
          title: tool.title,
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        });
        expect(tool.outputSchema).toBeUndefined();
      }
      expect(tools.find(({ name }) => name === "fails")?.inputSchema).toEqual({
        type: "object",
        properties: {},
        additionalProperties: false,
      });
      expect(tools.find(({ name }) => name === "defaults")?.inputSchema).toMatchObject({
        required: ["owner"],
        properties: { ttl_secs: { default: 600 } },
      });
    });

    it("result-1: gives the text and no structured data unless asked", async () => {
      const plain = await client.call("defaults", { owner: "a" });
      expect(plain.text).toBe("a for 600 s, no priority");
      expect(plain.structured).toBeUndefined();
      const asked = await client.call("defaults", { owner: "a" }, { meta: { "toolhaft/structured": true } });
      expect(asked.text).toBe("a for 600 s, no priority");
      expect(asked.structured).toEqual({ owner: "a", ttl_secs: 600 });
    });

    it("errors-4: tells bad input as a tool's failure that names the field", async () => {
      const wrong = await client.call("defaults", { owner: 1 });
      expect(wrong.isError).toBe(true);
      expect(wrong.text).toMatch(/^invalid_input: /);
      expect(wrong.text).toContain("owner");
      const unknown = await client.call("defaults", { owner: "a", ttlSecs: 5 });
      expect(unknown.isError).toBe(true);
      expect(unknown.text).toContain("ttl_secs");
    });

    it("keeps code, message and hint of a failure", async () => {
      const failed = await client.call("fails", {});
      expect(failed.isError).toBe(true);
      expect(failed.text).toContain("not_found: no pending task");
      expect(failed.text).toContain("hint: post one first");
      expect(failed.structured).toBeUndefined();
    });

    it("answers an unknown tool with a protocol error and the nearest names", async () => {
      await expect(client.call("ecco", {})).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("echo"),
      });
    });

    it("stdio-1: keeps the wire clean while a tool prints", async () => {
      expect((await client.call("noisy", {})).text).toBe("quiet on the wire");
      await vi.waitFor(() => expect(client.stderr()).toContain("printed by process.stdout.write"));
      expect(client.stderr()).toContain("printed by console.log");
      expect(client.stderr()).toContain("printed by console.info");
      expect(client.errors).toEqual([]);
    });

    it("progress-2: sends no progress to a call without a token", async () => {
      const before = client.progress.length;
      await client.call("burst", { steps: [1, 2, 3] });
      await client.call("echo", { text: "after it" });
      expect(client.progress).toHaveLength(before);
    });

    it("progress-3: numbers only rise", async () => {
      const before = client.progress.length;
      await client.call("burst", { steps: [3, 1, 2] }, { onProgress: () => undefined });
      const numbers = client.progress.slice(before).map(({ progress }) => progress);
      expect(numbers).toEqual([3]);
    });

    it("aborts the running tool on cancel: its connection is closed", async () => {
      const controller = new AbortController();
      const call = client.call("slow", {}, { signal: controller.signal });
      call.catch(() => undefined);
      await vi.waitFor(() => expect(silent.sockets.size).toBe(1));
      controller.abort(new Error("enough"));
      await expect(call).rejects.toThrow();
      await vi.waitFor(() => expect(silent.sockets.size).toBe(0));
      expect((await client.call("echo", { text: "still here" })).text).toBe("still here");
    });

    it("asks a person once and goes on where the tool stood", async () => {
      const outside = await tempWorkspace();
      answers = [yes];
      questions.length = 0;
      const path = outside.path("a.txt");
      const result = await client.call("asks", { path });
      expect(result).toMatchObject({ isError: false, text: `wrote ${path}` });
      expect(await readFile(path, "utf8")).toBe("asked\n");
      expect(questions).toEqual([
        expect.stringMatching(new RegExp(`asks asks for file.write:\\n  ${path}\\nReason: `)),
      ]);
      await outside.remove();
    });

    it("approval-3: passes on a no with its reason", async () => {
      const outside = await tempWorkspace();
      answers = [{ action: "accept", content: { decision: "deny", feedback: "use /tmp" } }];
      const result = await client.call("asks", { path: outside.path("b.txt") });
      expect(result.isError).toBe(true);
      expect(result.text).toContain("denied");
      expect(result.text).toContain("use /tmp");
      expect(result.text).toContain("do not repeat this call unchanged");
      expect(existsSync(outside.path("b.txt"))).toBe(false);
      await outside.remove();
    });

    it.each<[string, Answer]>([
      ["a declined form", { action: "decline" }],
      ["a closed form", { action: "cancel" }],
      ["an answer that was not offered", { action: "accept", content: { decision: "allow everything" } }],
      ["an empty answer", { action: "accept", content: {} }],
    ])("takes %s for a no", async (_name, answer) => {
      const outside = await tempWorkspace();
      answers = [answer];
      expect(await client.call("asks", { path: outside.path("c.txt") })).toMatchObject({
        isError: true,
        text: expect.stringContaining("denied"),
      });
      expect(existsSync(outside.path("c.txt"))).toBe(false);
      await outside.remove();
    });

    it("approval-2: tells two open questions of one tool apart", async () => {
      const outside = await tempWorkspace();
      const paths = [outside.path("first.txt"), outside.path("second.txt")];
      const other = await connect(kind, {
        wire,
        cwd: workspace.directory,
        elicit: (message) => (message.includes("second.txt") ? yes : no),
      });
      const [first, second] = await Promise.all(paths.map((path) => other.call("asks", { path })));
      expect([first?.isError, second?.isError]).toEqual([true, false]);
      expect(paths.map((path) => existsSync(path))).toEqual([false, true]);
      await other.close();
      await outside.remove();
    });

    it("asks twice in one call, which runs once", async () => {
      answers = [yes, yes];
      questions.length = 0;
      const result = await client.call("asks_twice", {});
      expect(questions).toHaveLength(2);
      expect(result).toMatchObject({ isError: false, text: "ran 1 times" });
    });

    it("remembers an answer for the session, and does not offer to where there is none", async () => {
      const outside = await tempWorkspace();
      if (wire === "http" && kind === "v2 in 2026") {
        answers = [forSession];
        expect((await client.call("asks", { path: outside.path("d.txt") })).text).toMatch(/^denied: /);
        await outside.remove();
        return;
      }
      answers = [forSession];
      questions.length = 0;
      const path = outside.path("d.txt");
      expect((await client.call("asks", { path })).isError).toBe(false);
      expect((await client.call("asks", { path })).isError).toBe(false);
      expect(questions).toHaveLength(1);
      await outside.remove();
    });

    it("sends small pictures inline and links the rest, readable in ranges", async () => {
      const small = await client.call("attaches", { what: "small" });
      expect(small.content[1]).toMatchObject({ type: "image", mimeType: "image/png" });
      const big = await client.call("attaches", { what: "big" });
      expect(big.content[1]).toMatchObject({
        type: "resource_link",
        name: "big.bin",
        mimeType: "image/png",
        size: 3_000_000,
      });
      const uri = String(big.content[1]?.uri);
      expect(uri).toMatch(/^toolhaft:\/\/result\/[0-9a-f]{32}$/);
      const range = await client.read(`${uri}?offset=2999990&limit=100`);
      expect(Buffer.from(String(range.blob), "base64")).toEqual(Buffer.alloc(10, 7));
      await expect(client.read("toolhaft://result/00000000000000000000000000000000")).rejects.toMatchObject({
        code: -32602,
      });
    });

    it("puts a linked text together from ranges without breaking a character", async () => {
      const result = await client.call("attaches", { what: "text" });
      const uri = String(result.content[1]?.uri);
      let text = "";
      for (let offset = 0; offset < Number(result.content[1]?.size); ) {
        const part = await client.read(`${uri}?offset=${offset}&limit=1001`);
        expect(String(part.text)).not.toContain("\ufffd");
        text += String(part.text);
        offset += Buffer.byteLength(String(part.text));
      }
      expect(text).toBe("äöü€😀 ".repeat(1_000));
    });

    it("works in the folder it was started in when the client has no roots", async () => {
      const { structured } = await client.call("where", {}, { meta: { "toolhaft/structured": true } });
      expect(structured).toMatchObject({ directory: workspace.directory, roots: [workspace.directory] });
    });
  });

  describe.each(clientKinds)("a client of %s that cannot be asked", (kind) => {
    it("approval-1: is denied at once with the flag that would allow it, and the flag works", async () => {
      const outside = await tempWorkspace();
      const path = outside.path("x");
      const client = await connect(kind, {
        wire,
        cwd: outside.path("."),
        server: { directory: (await tempWorkspace()).directory },
      });
      const denied = await client.call("asks", { path });
      expect(denied.isError).toBe(true);
      const flag = /--allow '([^']+)'/.exec(denied.text)?.[1];
      expect(flag).toBe(`file.write:${path}`);
      expect(existsSync(path)).toBe(false);
      await client.close();
      const allowed = await connect(kind, {
        wire,
        cwd: outside.path("."),
        server: { directory: (await tempWorkspace()).directory, allow: [flag] },
      });
      expect((await allowed.call("asks", { path })).isError).toBe(false);
      expect(existsSync(path)).toBe(true);
      await allowed.close();
      await outside.remove();
    });
  });

  describe.each(["v1", "v2 in 2025"] as const)("roots of a client of %s", (kind) => {
    it("roots-2: decodes them, works in the first, knows all, and asks in a third folder", async () => {
      const home = await tempWorkspace({ "my app/a.txt": "", "lib/b.txt": "", "third/c.txt": "" });
      const client = await connect(kind, {
        wire,
        cwd: home.directory,
        roots: () => [pathToFileURL(home.path("my app")).href, pathToFileURL(home.path("lib")).href],
      });
      const where = async (path: string) =>
        (await client.call("where", { path }, { meta: { "toolhaft/structured": true } })).structured;
      expect(await where(home.path("lib/new.txt"))).toEqual({
        directory: home.path("my app"),
        roots: [home.path("my app"), home.path("lib")],
        permits: "allow",
      });
      expect(await where(home.path("my app/new.txt"))).toMatchObject({ permits: "allow" });
      expect(await where(home.path("third/new.txt"))).toMatchObject({ permits: "ask" });
      await client.close();
      await home.remove();
    });

    it("follows when the roots change", async () => {
      const home = await tempWorkspace({ "a/x": "", "b/x": "" });
      let root = home.path("a");
      const client = await connect(kind, {
        wire,
        cwd: home.directory,
        roots: () => [pathToFileURL(root).href],
      });
      const directory = async () =>
        (await client.call("where", {}, { meta: { "toolhaft/structured": true } })).structured;
      expect(await directory()).toMatchObject({ directory: home.path("a") });
      root = home.path("b");
      await client.rootsChanged();
      await vi.waitFor(async () => expect(await directory()).toMatchObject({ directory: home.path("b") }));
      await client.close();
      await home.remove();
    });

    it("roots-3: a given directory beats them, with one note", async () => {
      const home = await tempWorkspace({ "x/a": "", "y/a": "" });
      const client = await connect(kind, {
        wire,
        server: { directory: home.path("x") },
        roots: () => ["https://a", pathToFileURL(home.path("y")).href, "file:///missing"],
      });
      const { structured } = await client.call("where", {}, { meta: { "toolhaft/structured": true } });
      expect(structured).toMatchObject({ directory: home.path("x"), roots: [home.path("x")] });
      await vi.waitFor(() => expect(client.stderr().match(/roots are ignored/g) ?? []).toHaveLength(1), {
        timeout: 20_000,
      });
      for (const root of ["https://a", pathToFileURL(home.path("y")).href, "file:///missing"])
        expect(client.stderr()).toContain(root);
      await client.close();
      await home.remove();
    });

    it("works in the good roots beside odd ones, and names those", async () => {
      const home = await tempWorkspace({ "y/a": "" });
      const client = await connect(kind, {
        wire,
        cwd: home.directory,
        roots: () => ["https://a", pathToFileURL(home.path("y")).href, "file:///missing"],
      });
      const { structured } = await client.call("where", {}, { meta: { "toolhaft/structured": true } });
      expect(structured).toMatchObject({ directory: home.path("y"), roots: [home.path("y")] });
      await vi.waitFor(() => expect(client.stderr()).toMatch(/ignored: https:\/\/a, file:\/\/\/missing\n/), {
        timeout: 20_000,
      });
      await client.close();
      await home.remove();
    });
  });

  describe("loading tools by need", () => {
    it.each(clientKinds)("lists what is loaded and tells a client of %s that the list changed", async (kind) => {
      const home = await tempWorkspace();
      const client = await connect(kind, {
        wire,
        cwd: home.directory,
        server: { lazy: true },
      });
      await client.subscribe();
      expect(client.instructions).toBe("Tools are loaded by need.");
      expect((await client.list()).map(({ name }) => name)).toEqual(["tool_load"]);
      const early = await client.call("echo", { text: "a" });
      expect(early).toMatchObject({ isError: true, text: expect.stringContaining('tool_load {"names":["echo"]}') });
      await client.call("tool_load", { names: ["echo"] });
      await vi.waitFor(() => expect(client.listChanges()).toBe(1));
      expect((await client.list()).map(({ name }) => name)).toEqual(["tool_load", "echo"]);
      expect((await client.call("echo", { text: "a" })).text).toBe("a");
      await client.close();
      await home.remove();
    });
  });
}

/** Accepts connections on loopback and never answers. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, sockets, port: typeof address === "object" && address !== null ? address.port : 0 };
}
