import { type Setting, testFamily } from "@toolhaft/testing";
import { expect } from "vitest";
import { createFunctions } from "../src/index.ts";
import { filesOf } from "./setting.ts";

const files = filesOf({
  "dev/plan":
    "produces: plan\ngate: user_approval\ntransitions: [{when: gate, activate: [execute], deactivate: [plan]}]",
  "dev/execute": "requires: [plan]\nconsumes: plan",
  review: "continue_until: signal_observed(answer)",
});

/** The contract gives one context a test; this is its session. */
const sessionId = "ses-contract";
const context = { sessionId };

async function active({ workspace }: Setting): Promise<void> {
  const family = createFunctions({ directory: workspace.directory });
  await family.engine.step(sessionId, { type: "activate", function: "dev/plan" });
  await family.engine.step(sessionId, { type: "activate", function: "review" });
  await family.close();
}

testFamily({
  make: () => createFunctions(),
  golden: new URL("./golden/", import.meta.url),
  processes: { module: new URL("../src/index.ts", import.meta.url), factory: "createFunctions" },
  tools: {
    signal: {
      // A payload may have any fields, which strict profiles cannot say.
      unsupported: ["anthropic-strict", "openai-strict"],
      files,
      context,
      valid: [
        { title: "without a function", input: { type: "progress", payload: { message: "half", percent: 50 } } },
        {
          title: "a pause",
          prepare: active,
          input: { type: "need_approval", payload: { question: "Go on?", risk: "low" } },
          check: ({ text }) => expect(text).toContain("paused: dev/plan, review until #1 is resolved"),
        },
        { title: "the end", prepare: active, input: { type: "answer" } },
      ],
      invalid: [
        { title: "no type", input: {} },
        { title: "an unknown type", input: { type: "done" }, text: "answer" },
        {
          title: "a percent over 100",
          input: { type: "progress", payload: { percent: 101 } },
          text: /percent.*0 to 100/,
        },
        {
          title: "a time that is too short",
          input: { type: "blocked", payload: { timeout_ms: 999 } },
          text: /timeout_ms/,
        },
        { title: "a target that is no text", input: { type: "handoff", payload: { target: 5 } }, text: /target/ },
        { title: "a list as payload", input: { type: "answer", payload: [1] }, text: /payload/ },
        {
          title: "65 KiB",
          input: { type: "answer", payload: { text: "x".repeat(66_560) } },
          code: "too_large",
          text: /65536/,
        },
      ],
    },
    function_state: {
      files,
      context,
      valid: [
        {
          title: "nothing recorded",
          input: {},
          check: ({ text }) => expect(text).toContain("no function state recorded"),
        },
        {
          title: "two functions",
          prepare: active,
          input: {},
          check: ({ text }) => expect(text).toContain("| dev/plan | gated | no | – | produces plan missing | – |"),
        },
        {
          title: "without artifacts and evidence, of a role, a page of one",
          prepare: active,
          input: { include_artifacts: false, include_evidence: false, role_id: "dev", limit: 1 },
          check: ({ text }) => expect(text).toContain("| Function | Phase | Gate | Continue |"),
        },
      ],
      invalid: [
        { title: "an unknown session", input: { session_id: "nobody" }, code: "not_found" },
        { title: "an unknown role", input: { role_id: "devv" }, code: "not_found", text: "dev" },
        { title: "a role that is a path", input: { role_id: "../x" }, code: "not_found" },
        { title: "a limit of 0", input: { limit: 0 } },
        { title: "a limit of 201", input: { limit: 201 } },
        { title: "a cursor of nothing", input: { cursor: "x" }, prepare: active },
      ],
    },
    function_graph: {
      files,
      context,
      valid: [
        {
          title: "dependencies",
          input: {},
          check: ({ text }) => expect(text).toContain("dev/execute --requires--> dev/plan"),
        },
        { title: "hand-overs as a diagram", input: { focus: "state_machine", format: "mermaid" } },
        {
          title: "JSON that equals the data",
          input: { format: "json", role_id: "dev/" },
          check: ({ text, data }) => expect(JSON.parse(text)).toEqual(data),
        },
        {
          title: "phases of a session",
          prepare: active,
          input: { session_id: sessionId },
          check: ({ text }) => expect(text).toContain("dev/plan (gated)"),
        },
      ],
      invalid: [
        { title: "an unknown role", input: { role_id: "qa" }, code: "not_found" },
        { title: "an unknown session", input: { session_id: "nobody" }, code: "not_found" },
        { title: "an unknown focus", input: { focus: "flow" } },
        { title: "an unknown format", input: { format: "svg" } },
        { title: "a limit of 2001", input: { limit: 2_001 } },
        { title: "a cursor of nothing", input: { cursor: "x" } },
      ],
    },
  },
});
