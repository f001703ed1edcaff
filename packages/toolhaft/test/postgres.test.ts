import { tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { postgresSessionStore } from "../../postgres/src/session.ts";
import { startServer, type TestServer } from "../../postgres/test/server.ts";
import { registry } from "../src/families.ts";
import { command } from "./command.ts";

let server: TestServer | undefined;
beforeAll(async () => {
  server = await startServer(["fsync=off", "synchronous_commit=off"]);
});
afterAll(() => server?.dispose());

/** A machine: a folder of its own, and the real families on the one database. */
async function machine() {
  const workspace = await tempWorkspace();
  onTestFinished(() => workspace.remove());
  const run = (words: readonly string[]) => command(words, { cwd: workspace.directory }, registry);
  const store = ["--store", server?.url ?? ""];
  return {
    directory: workspace.directory,
    run: (words: readonly string[]) => run([...words, ...store]),
    async call(tool: string, input: unknown) {
      const ran = await run(["call", tool, JSON.stringify(input), ...store]);
      expect(ran, ran.err).toMatchObject({ code: 0 });
      return ran.out;
    },
  };
}

describe("toolhaft --store postgres://, on a real server", () => {
  it("what one machine posts, remembers and records another works on, recalls and reads", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const [one, other] = [await machine(), await machine()];
    await one.call("memory_write", {
      title: "Staging port",
      content: "The staging database is on 5433.",
      category: "fact",
    });
    expect(await other.call("memory_recall", { query: "staging port" })).toContain("5433");
    const id = /task_[0-9A-Z]{26}/.exec(
      await one.call("task_post", { title: "Fix the lexer", body: "It loops." }),
    )?.[0];
    const claimed = await other.run(["call", "task_claim", "{}", "--json"]);
    expect(claimed.out).toContain(id);
    // Each call of the command is a session of its own.
    const claim_token = /"claimToken": ?"(\w+)"/.exec(claimed.out)?.[1];
    expect(await other.call("task_complete", { task_id: id, result: "It ends now.", claim_token })).toContain(id);
    expect(await one.call("task_list", {})).toContain("Fix the lexer");

    const store = postgresSessionStore({ connectionString: server.url });
    onTestFinished(() => store[Symbol.asyncDispose]());
    const writer = await store.open({ id: "recorded-1", directory: other.directory, title: "Parser" });
    await writer.append({ id: "m1", role: "user", parts: [{ kind: "text", text: "why does the aardvark fail" }] });
    await writer.flush();
    expect(await other.call("session_list", {})).toContain("recorded-1");
    expect(await other.call("session_search", { query: "aardvark" })).toContain("recorded-1");
    expect(await other.call("session_read", { session_id: "recorded-1" })).toContain("aardvark");
    expect(await other.call("session_fork", { session_id: "recorded-1" })).toContain("Parser (fork)");
    const context = await other.call("context_assemble", { topic: "aardvark staging" });
    expect(context).toContain("5433");
    expect(context).toContain("aardvark");
  });

  it("exports, imports and checks the memories of the database", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const one = await machine();
    await one.call("memory_write", { title: "Badger", content: "Badgers dig at night.", category: "fact" });
    expect((await one.run(["memory", "export"])).out).toContain("Badgers dig");
    expect(await one.run(["memory", "check"])).toMatchObject({ code: 0 });
  });

  it("a server that is gone ends in one clear error, without the password", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const { directory } = await machine();
    const url = new URL(server.url);
    url.password = "secret";
    url.pathname = "/nowhere";
    for (const tool of ["memory_list", "task_list", "session_list"]) {
      const ran = await command(["call", tool, "{}", "--store", url.href], { cwd: directory }, registry);
      expect(ran).toMatchObject({ code: 3, out: "" });
      expect(ran.err).toContain("no such database");
      expect(ran.err).not.toContain("secret");
    }
  });
});
