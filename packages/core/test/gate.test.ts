import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  type Asker,
  createContext,
  createPolicy,
  type Decision,
  defaultPolicy,
  type PermissionRequest,
  parseRule,
  ToolError,
} from "../src/index.ts";
import { probe, until } from "./tools.ts";

const asks: AnyTool = probe(
  async ({ path = "/elsewhere/x", fresh }, context) => {
    const request = { permission: "file.write", resources: [path as string], reason: "probe" };
    await context.ask(fresh ? { ...request, fresh: true } : request);
    return { value: path };
  },
  { shape: { path: z.string().optional().describe("p"), fresh: z.boolean().optional().describe("f") } },
);

/** An asker that notes its questions and answers as told. */
function asker(...answers: (Decision | (() => Promise<Decision>))[]): Asker & { asked: Parameters<Asker>[0][] } {
  const asked: Parameters<Asker>[0][] = [];
  const answer: Asker = async (request) => {
    asked.push(request);
    const next = answers[Math.min(asked.length, answers.length) - 1] ?? { allow: false };
    return typeof next === "function" ? next() : next;
  };
  return Object.assign(answer, { asked });
}

const directory = "/w";

describe("the gate", () => {
  it("answers inside the roots without asking anybody", async () => {
    const nobody = asker();
    expect(await asks.call({ path: "/w/a" }, { directory, asker: nobody })).toMatchObject({ ok: true });
    expect(nobody.asked).toEqual([]);
  });

  it("approval-1: without an asker it is denied with the exact rule to add, which then works", async () => {
    const result = await asks.call({ path: "/w2/x" }, { directory });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "denied", retryable: false, details: { by: "no_asker", rules: ["file.write:/w2/x"] } },
    });
    expect(result.text).toContain("--allow 'file.write:/w2/x'");
    expect(result.text).toContain("do not repeat this call unchanged");
    const policy = createPolicy({ rules: [parseRule("allow", "file.write:/w2/x")], directory });
    expect(await asks.call({ path: "/w2/x" }, { directory, policy })).toMatchObject({ ok: true });
  });

  it("tells the asker who asks for what", async () => {
    const yes = asker({ allow: true });
    await asks.call({}, { directory, asker: yes, callId: "c1", sessionId: "s1", agent: "helper" });
    expect(yes.asked[0]).toMatchObject({
      permission: "file.write",
      resources: ["/elsewhere/x"],
      reason: "probe",
      tool: "probe",
      callId: "c1",
      sessionId: "s1",
      agent: "helper",
    });
    expect(yes.asked[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  it("approval-3: a no with a reason", async () => {
    const result = await asks.call({}, { directory, asker: asker({ allow: false, feedback: "use /tmp" }) });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "denied", details: { by: "user", feedback: "use /tmp" } },
    });
    expect(result.text).toContain("use /tmp");
    expect(result.text).toContain("do not repeat this call unchanged");
  });

  it("approval-2: two open questions of one tool are told apart", async () => {
    const open: { request: PermissionRequest; answer(decision: Decision): void }[] = [];
    const parked: Asker = (request) => new Promise((answer) => open.push({ request, answer }));
    const context = createContext({ directory, asker: parked });
    const first = asks.call({ path: "/x/1" }, context);
    const second = asks.call({ path: "/x/2" }, context);
    await until(() => open.length === 2);
    for (const { request, answer } of open)
      answer(request.resources[0] === "/x/2" ? { allow: true } : { allow: false });
    expect(await first).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(await second).toMatchObject({ ok: true });
  });

  it("an answer counts for this call and the same resource, once asked", async () => {
    const yes = asker({ allow: true });
    const twice = probe(async (_input, context) => {
      const ask = (path: string) => context.ask({ permission: "file.write", resources: [path], reason: "r" });
      await Promise.all([ask("/x/1"), ask("/x/1")]);
      await ask("/x/1");
      await ask("/x/2");
      return { value: 1 };
    });
    const context = createContext({ directory, asker: yes });
    await twice.call({}, context);
    expect(yes.asked.map(({ resources }) => resources)).toEqual([["/x/1"], ["/x/2"]]);
    await twice.call({}, context);
    expect(yes.asked).toHaveLength(4);
  });

  it("is remembered for the session, the tool and the agent where the person said so, and nowhere else", async () => {
    const yes = asker({ allow: true, remember: "session" });
    const context = createContext({ directory, asker: yes });
    const other = probe(
      async (_input, given) => {
        await given.ask({ permission: "file.write", resources: ["/elsewhere/x"], reason: "r" });
        return { value: 1 };
      },
      { name: "other" },
    );
    await asks.call({}, context);
    await asks.call({}, context);
    expect(yes.asked).toHaveLength(1);
    await asks.call({}, { ...context, agent: "helper" });
    await asks.call({}, { ...context, sessionId: "another" });
    await other.call({}, context);
    expect(yes.asked).toHaveLength(4);
    await asks.call({}, createContext({ directory, asker: yes }));
    expect(yes.asked).toHaveLength(5);
  });

  it("a fresh question is never remembered", async () => {
    const yes = asker({ allow: true, remember: "session" });
    const context = createContext({ directory, asker: yes });
    await asks.call({ fresh: true }, context);
    await asks.call({ fresh: true }, context);
    await asks.call({}, context);
    expect(yes.asked).toHaveLength(3);
    await asks.call({ fresh: true }, context);
    expect(yes.asked).toHaveLength(4);
  });

  it("permits looks without asking", async () => {
    const yes = asker({ allow: true, remember: "session" });
    const context = createContext({ directory, asker: yes });
    const seen: string[] = [];
    const looks = probe(async (_input, given) => {
      for (const path of ["/w/a", "/w/.toolhaft/a", "/x"]) seen.push(given.permits("file.write", path));
      await given.ask({ permission: "file.write", resources: ["/x"], reason: "r" });
      seen.push(given.permits("file.write", "/x"));
      return { value: 1 };
    });
    await looks.call({}, context);
    expect(seen).toEqual(["allow", "deny", "ask", "allow"]);
    expect(yes.asked).toHaveLength(1);
  });

  it("asks for the open resources of a request only, and one denied ends it", async () => {
    const yes = asker({ allow: true });
    const several = (paths: string[]) =>
      probe(async (_input, context) => {
        await context.ask({ permission: "file.write", resources: paths, reason: "r" });
        return { value: 1 };
      });
    expect(await several(["/w/a", "/x", "/y"]).call({}, { directory, asker: yes })).toMatchObject({ ok: true });
    expect(yes.asked[0]?.resources).toEqual(["/x", "/y"]);
    expect(await several(["/x", "/w/.toolhaft/s"]).call({}, { directory, asker: yes })).toMatchObject({
      ok: false,
      error: { details: { by: "policy", resources: ["/w/.toolhaft/s"] } },
    });
    expect(yes.asked).toHaveLength(1);
  });

  it.each([
    ["an asker that throws", async () => Promise.reject(new Error("broken pipe")), "no_asker"],
    ["an answer that is none", async () => undefined as never, "no_asker"],
    [
      "an asker that says why by a ToolError",
      async () => Promise.reject(new ToolError("denied", "expired", { details: { by: "timeout" } })),
      "timeout",
    ],
  ])("%s is a no", async (_title, answer, by) => {
    expect(await asks.call({}, { directory, asker: asker(answer) })).toMatchObject({
      ok: false,
      error: { code: "denied", details: { by } },
    });
  });

  it("an asker that never answers is a no after its time-out", async () => {
    const silent: Asker = () => new Promise(() => undefined);
    expect(await asks.call({}, { directory, asker: silent, askTimeoutMs: 20 })).toMatchObject({
      ok: false,
      error: { code: "denied", details: { by: "timeout" } },
    });
  });

  it("ends with the call", async () => {
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const silent: Asker = (request) => {
      signal = request.signal;
      controller.abort();
      return new Promise(() => undefined);
    };
    expect(await asks.call({}, { directory, asker: silent, signal: controller.signal })).toMatchObject({
      ok: false,
      error: { code: "cancelled" },
    });
    expect(signal?.aborted).toBe(true);
  });

  it("a context given on brings its gate along, a tool asks in its own name", async () => {
    const yes = asker({ allow: true });
    const outer = probe(async (_input, context) => ({ value: (await asks.call({}, context)).ok }), { name: "outer" });
    expect(await outer.call({}, { directory, asker: yes })).toMatchObject({ data: { value: true } });
    expect(yes.asked[0]?.tool).toBe("probe");
  });

  it("goes through the ask that a copy of the context holds", async () => {
    const through: string[] = [];
    const outer = probe(
      async (_input, context) => {
        const copy = {
          ...context,
          ask: (request: PermissionRequest) => {
            through.push(request.permission);
            return context.ask(request);
          },
        };
        return { value: (await asks.call({ path: "/w/a" }, copy)).ok };
      },
      { name: "outer" },
    );
    expect(await outer.call({}, { directory })).toMatchObject({ data: { value: true } });
    expect(through).toEqual(["file.write"]);
  });
});

describe("effects", () => {
  it("are asked for with the tool's title, before anything runs", async () => {
    const yes = asker({ allow: true });
    const tool = probe(
      async (_input, context) => {
        await context.ask({ permission: "file.write", resources: ["/x/a"], reason: "itself" });
        return { value: 1 };
      },
      { effects: () => [{ permission: "file.write", resource: "/x/a" }] },
    );
    expect(await tool.call({}, { directory, asker: yes })).toMatchObject({ ok: true });
    expect(yes.asked.map(({ reason }) => reason)).toEqual(["Probe: file.write /x/a"]);
  });
});

describe("default rules of a tool", () => {
  const runs = probe(
    async (_input, context) => {
      await context.ask({ permission: "probe.run", resources: ["a"], reason: "r" });
      return { value: 1 };
    },
    { defaultRules: [{ effect: "allow", permission: "probe.run" }] },
  );
  it("stand in where no rule matches", async () =>
    expect(await runs.call({}, { directory })).toMatchObject({ ok: true }));
  it.each([
    ["a rule of the user", createPolicy({ rules: [parseRule("ask", "probe.*")], directory })],
    ["a denial", createPolicy({ rules: [parseRule("deny", "probe.run")], directory })],
    [
      "a fallback of deny",
      createPolicy({ rules: [parseRule("allow", "probe:file.read")], fallback: "deny", directory }),
    ],
    [
      "a stricter child",
      defaultPolicy(directory).narrow(createPolicy({ rules: [parseRule("ask", "probe.run")], directory })),
    ],
  ])("stand below %s", async (_title, policy) =>
    expect(await runs.call({}, { directory, policy })).toMatchObject({ ok: false, error: { code: "denied" } }),
  );
  it("count in permits", async () => {
    const looks = probe(async (_input, context) => ({ value: context.permits("probe.run", "a") }), {
      defaultRules: [{ effect: "allow", permission: "probe.run" }],
    });
    expect(await looks.call({}, { directory })).toMatchObject({ data: { value: "allow" } });
  });
});

describe("two spellings of one file", () => {
  const made: string[] = [];
  afterEach(async () => {
    for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
  });

  it("a grant covers the path as written and the real one", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-gate-")));
    made.push(root);
    await mkdir(join(root, "real"));
    await symlink(join(root, "real"), join(root, "link"));
    const yes = asker({ allow: true });
    const tool = probe(
      async (_input, context) => {
        await context.ask({ permission: "file.write", resources: [join(root, "real", "new", "x")], reason: "real" });
        return { value: 1 };
      },
      {
        effects: () => [{ permission: "file.write", resource: join(root, "link", "new", "x") }],
      },
    );
    expect(await tool.call({}, { directory, asker: yes })).toMatchObject({ ok: true });
    expect(yes.asked).toHaveLength(1);
  });

  it("a root that is a link is inside under both names", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-gate-")));
    made.push(root);
    await mkdir(join(root, "real"));
    await symlink(join(root, "real"), join(root, "link"));
    const policy = defaultPolicy(join(root, "link"));
    const check = (resource: string) =>
      policy.check({ tool: "t", agent: "main", permission: "file.write", resource }).effect;
    expect([check(join(root, "link", "a")), check(join(root, "real", "a")), check(join(root, "other"))]).toEqual([
      "allow",
      "allow",
      "ask",
    ]);
  });
});
