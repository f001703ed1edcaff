import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { codex, type SubagentRunner } from "../src/index.ts";
import { openDesk } from "./desk.ts";
import { type ModelServer, modelServer } from "./model-server.ts";
import { eventually, isAlive } from "./runs.ts";

/** The real program, installed once; a model on loopback is all it needs. */
const programs = installed();

function installed(): string | undefined {
  const folder = fileURLToPath(new URL("../../../node_modules/.cache/agent-programs", import.meta.url));
  const bin = join(folder, "node_modules", ".bin");
  if (existsSync(join(bin, "codex"))) return bin;
  try {
    const packages = ["opencode-ai@1.18.33", "@openai/codex@0.171.0"]; // as the session package installs them
    execFileSync("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, ...packages], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    return bin;
  } catch (error) {
    console.warn(`the agents' programs cannot be installed: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

type Make = (model: ModelServer, directory: string, home: string) => SubagentRunner;

const codexHere: Make = (model, _directory, home) => {
  writeFileSync(
    join(home, "config.toml"),
    [
      'model = "scripted"',
      'model_provider = "here"',
      "[model_providers.here]",
      'name = "here"',
      `base_url = "${model.url}"`,
      'wire_api = "responses"',
    ].join("\n"),
  );
  return codex({
    command: join(programs ?? "", "codex"),
    access: "read-only",
    trustDirectory: true,
    env: { HOME: home, CODEX_HOME: home },
  });
};

describe.skipIf(programs === undefined).each([["codex", codexHere]] as const)(
  "%s itself, over a scripted model",
  (name, make) => {
    const open = async () => {
      const workspace = await tempWorkspace();
      const home = workspace.path("home");
      mkdirSync(home, { recursive: true });
      const model = await modelServer("The parser reads words.");
      const runner = make(model, workspace.directory, home);
      const desk = await openDesk({ agents: [{ name, description: "The program itself.", runner }] }, {}, workspace);
      return { desk, model };
    };

    it("answers, tells what it used, and goes on in its session", { timeout: 240_000 }, async () => {
      const { desk, model } = await open();
      const call = (prompt: string, more: object = {}) =>
        desk.data<{ taskId: string; sessionId: string; result: { text: string } }>("dispatch", {
          subagent: name,
          prompt,
          run_in_background: false,
          ...more,
        });
      const first = await call("What does the parser read?");
      expect(first.result.text.trim()).toBe("The parser reads words.");
      expect(first.sessionId).toMatch(/./);
      expect(await desk.task(first.taskId)).toMatchObject({
        status: "completed",
        sessionId: first.sessionId,
        usage: { inputTokens: 11, outputTokens: 5 },
      });
      expect(model.asked.some((body) => body.includes("What does the parser read?"))).toBe(true);
      const second = await call("And then?", { session_id: first.taskId });
      expect(second.sessionId).toBe(first.sessionId);
      const last = model.asked.findLast((body) => body.includes("And then?")) ?? "";
      expect(last).toContain("What does the parser read?");
      expect((await desk.task(second.taskId)).usage).toMatchObject({ inputTokens: 11, outputTokens: 5 });
    });

    it("is gone with all of its processes when it is cancelled", { timeout: 240_000 }, async () => {
      const { desk, model } = await open();
      model.fallSilent();
      const id = await desk.launch(name, "Think for ever.");
      await eventually(() => model.asked.length > 0);
      const { store } = desk.tasks.api.backend(desk.workspace.directory);
      let pid: number | undefined;
      await eventually(async () => {
        pid = ((await store.terms(id))?.handle as { pid?: number } | null)?.pid;
        return pid !== undefined;
      });
      expect(isAlive(pid ?? 0)).toBe(true);
      await desk.data("dispatch_cancel", { task_id: id });
      await desk.until(id, "cancelled");
      expect(isAlive(pid ?? 0)).toBe(false);
    });
  },
);
