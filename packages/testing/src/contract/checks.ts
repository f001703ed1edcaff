import { getEventListeners } from "node:events";
import {
  type AnyTool,
  createContext,
  type JsonSchema,
  maskSecrets,
  type Policy,
  type ToolResult,
  toJsonSchema,
} from "@toolhaft/core";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { expect } from "vitest";
import { runs } from "../long.ts";
import { changedPaths, type Snapshot } from "../temp-workspace.ts";
import { arbitraryOf } from "./arbitrary.ts";
import type { InvalidFixture, Setting, ToolFixtures, ValidFixture } from "./fixtures.ts";
import { inputOf } from "./setting.ts";

/** A question that reached the gate. */
interface Question {
  permission: string;
  resource: string;
}

/** Every question is answered the same way, noted, and compared with what has already happened. */
function recordingPolicy(
  setting: Setting,
  effect: "allow" | "deny",
): { policy: Policy; questions: Question[]; early: string[] } {
  const questions: Question[] = [];
  const early: string[] = [];
  const before = setting.workspace.snapshot();
  const policy: Policy = {
    check({ permission, resource }) {
      if (permission === undefined) return { effect: "allow", reason: "the tool itself" };
      for (const path of unasked(setting, before, questions)) early.push(path);
      questions.push({ permission, resource: resource ?? "" });
      return { effect, reason: "recorded by the test" };
    },
    visible: () => true,
    narrow: (child) => child,
  };
  return { policy, questions, early };
}

/** Changed files that no question of `file.write` has covered. */
function unasked(setting: Setting, before: Snapshot, questions: readonly Question[]): string[] {
  const granted = questions.filter(({ permission }) => permission === "file.write").map(({ resource }) => resource);
  const covered = (path: string): boolean => {
    const absolute = setting.workspace.path(path);
    return granted.some(
      (resource) =>
        resource === absolute ||
        resource.startsWith(`${absolute}/`) ||
        absolute.startsWith(`${resource.replace(/\/$/, "")}/`),
    );
  };
  return changedPaths(before, setting.workspace.snapshot()).filter((path) => !covered(path));
}

function pathsOf(result: ToolResult): string[] {
  return (result.fileChanges ?? []).flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
}

/** A valid call succeeds, asks before each effect, keeps its promises of form, and reads only where it says so. */
export async function checkValid(setting: Setting, fixture: ValidFixture): Promise<void> {
  const { tool, workspace } = setting;
  const before = workspace.snapshot();
  const { policy, questions, early } = recordingPolicy(setting, "allow");
  const result = await tool.call(inputOf(fixture.input, setting), createContext({ ...setting.context, policy }));
  expect(result.ok, result.text).toBe(true);
  if (!result.ok) return;
  expect(early, "changed before the gate was asked").toEqual([]);
  expect(unasked(setting, before, questions), "changed without asking the gate for file.write").toEqual([]);
  expect(result.text.length).toBeLessThanOrEqual(tool.maxTextChars);
  expect(Object.isFrozen(result)).toBe(true);
  expectOutput(tool, result.data);
  if (tool.annotations.readOnlyHint)
    expect(changedPaths(before, workspace.snapshot()), "a read-only tool changed files").toEqual([]);
  await fixture.check?.(result, setting);
}

function expectOutput(tool: AnyTool, data: unknown): void {
  const plain: unknown = JSON.parse(JSON.stringify(data));
  const validate = compile(toJsonSchema(tool, "2020-12", "output"), "2020-12");
  expect(validate(plain), `data does not match the output schema: ${JSON.stringify(validate.errors)}`).toBe(true);
}

/** With every permission denied nothing changes, and a tool that needs one says `denied`. */
export async function checkDenied(setting: Setting, fixture: ValidFixture): Promise<void> {
  const before = setting.workspace.snapshot();
  const { policy, questions } = recordingPolicy(setting, "deny");
  const result = await setting.tool.call(
    inputOf(fixture.input, setting),
    createContext({ ...setting.context, policy }),
  );
  expect(changedPaths(before, setting.workspace.snapshot()), "changed although every permission was denied").toEqual(
    [],
  );
  if (!result.ok && questions.length > 0) expect(result.error.code, result.text).toBe("denied");
}

/** A call that is stopped before it begins starts nothing. */
export async function checkAbortedBefore(setting: Setting, fixture: ValidFixture): Promise<void> {
  const before = setting.workspace.snapshot();
  const { policy, questions } = recordingPolicy(setting, "allow");
  const context = createContext({ ...setting.context, policy, signal: AbortSignal.abort() });
  const result = await setting.tool.call(inputOf(fixture.input, setting), context);
  expect(result, result.text).toMatchObject({ ok: false, error: { code: "cancelled" } });
  expect(questions, "the gate was asked by a call that was already stopped").toEqual([]);
  expect(changedPaths(before, setting.workspace.snapshot())).toEqual([]);
}

/** A call that is stopped midway ends, tells the truth about files, and leaves no listener behind. */
export async function checkAbortedDuring(setting: Setting, fixture: ValidFixture, turns: number): Promise<void> {
  const before = setting.workspace.snapshot();
  const controller = new AbortController();
  const context = createContext({ ...setting.context, signal: controller.signal });
  const running = setting.tool.call(inputOf(fixture.input, setting), context);
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  const result = await running;
  if (!result.ok) {
    expect(result.error.code, result.text).toBe("cancelled");
    expect(result.error.details?.stillRunning, "the tool did not stop within the grace time").not.toBe(true);
    const told = pathsOf(result).map((path) => setting.workspace.path(path));
    const changed = changedPaths(before, setting.workspace.snapshot()).map((path) => setting.workspace.path(path));
    expect(
      changed.filter((path) => !told.some((other) => other === path || other.startsWith(`${path}/`))),
      "cancelled, yet changed",
    ).toEqual([]);
  }
  expect(getEventListeners(controller.signal, "abort"), "a listener was left on the signal").toEqual([]);
}

/** A bad call is refused with its code, and nothing happened. */
export async function checkInvalid(setting: Setting, fixture: InvalidFixture): Promise<void> {
  const before = setting.workspace.snapshot();
  const result = await setting.tool.call(inputOf(fixture.input, setting), setting.context);
  expect(result.ok, `it was accepted: ${result.text}`).toBe(false);
  if (result.ok) return;
  expect(result.error.code, result.text).toBe(fixture.code ?? "invalid_input");
  expect(result.text).toContain(`${result.error.code}: `);
  if (fixture.text !== undefined)
    expect(result.text).toMatch(
      typeof fixture.text === "string" ? new RegExp(fixture.text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")) : fixture.text,
    );
  expect(changedPaths(before, setting.workspace.snapshot()), "refused, yet changed").toEqual([]);
}

/** A token of a well-known form that belongs to nobody; put together here so that no scanner takes it for one. */
const secret = ["ghp", "0123456789abcdefghijABCDEFGHIJ456789"].join("_");

/** Whatever fails does not repeat a secret that was sent. */
export async function checkNoSecrets(setting: Setting, fixture: ValidFixture): Promise<void> {
  expect(maskSecrets(secret)).not.toContain(secret);
  const input = inputOf(fixture.input, setting);
  const poisoned = [withSecrets(input), { ...(input as object), [secret.slice(0, 8)]: secret }, secret];
  for (const attempt of poisoned) {
    const result = await setting.tool.call(attempt, setting.context);
    if (!result.ok) {
      expect(result.text).not.toContain(secret);
      expect(JSON.stringify(result.error)).not.toContain(secret);
    }
  }
}

function withSecrets(value: unknown): unknown {
  if (typeof value === "string") return secret;
  if (Array.isArray(value)) return value.map(withSecrets);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withSecrets(inner)]));
  return value;
}

/** The two rules that the schema does not tell: they would stand at nearly every text and every count. */
const untold = /^must not be empty$|^-\d+ is below the least allowed, 0$/;

/** Reading an input twice changes nothing, and what is accepted is what the schema says in every dialect. */
export function checkSchemaAgrees(tool: AnyTool, fixtures: ToolFixtures): void {
  const base = toJsonSchema(tool, "mcp");
  const dialects = [
    compile(toJsonSchema(tool, "draft-07"), "draft-07"),
    compile(toJsonSchema(tool, "2020-12"), "2020-12"),
  ];
  const finer = (fixtures.finer ?? []).map((path) => path.replace(/\[\d*\]/g, "[]"));
  const isFiner = (path: string): boolean => finer.includes(path.replace(/\[\d+\]/g, "[]"));
  fc.assert(
    fc.property(
      fc.oneof({ weight: 4, arbitrary: arbitraryOf(base) }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) }),
      (sample) => {
        const parsed = tool.parse(sample);
        const accepted = dialects.map((validate) => validate(sample));
        if (parsed.ok) {
          if (parsed.repaired.length === 0)
            expect(accepted, `parse accepts ${JSON.stringify(sample)}, the schema does not`).toEqual([true, true]);
          const again = tool.parse(parsed.input);
          expect(again.ok && again.input, "parsing what was parsed gives something else").toEqual(parsed.input);
          return;
        }
        if (!accepted.every(Boolean)) return;
        const issues = (parsed.error.details?.issues ?? []) as { path: string; message: string }[];
        const strict = issues.filter(({ path, message }) => !isFiner(path) && !untold.test(message));
        expect(
          strict,
          `the schema accepts ${JSON.stringify(sample)}, parse does not: ${parsed.error.message}; mend the schema or list the path in \`finer\``,
        ).toEqual([]);
      },
    ),
    { numRuns: runs(400) * 2 },
  );
}

/** `render` gives a text for every output that the schema describes, and the same one each time. */
export function checkRender(tool: AnyTool): void {
  const render = renderOf(tool);
  const inputs = arbitraryOf(toJsonSchema(tool, "mcp")).map((sample) => tool.parse(sample));
  fc.assert(
    fc.property(arbitraryOf(toJsonSchema(tool, "mcp", "output")), inputs, (data, parsed) => {
      fc.pre(parsed.ok);
      const input = parsed.ok ? parsed.input : undefined;
      const text = render(data, input, (original) => original);
      expect(typeof text).toBe("string");
      expect(
        render(data, input, (original) => original),
        "render is not pure",
      ).toBe(text);
    }),
    { numRuns: runs(400), maxSkipsPerRun: 1_000 },
  );
}

type Render = (data: unknown, input: unknown, toolName: (original: string) => string) => unknown;

/** What `defineTool` was given, behind the public face. */
function renderOf(tool: AnyTool): Render {
  const { [Symbol.for("toolhaft.tool.v1")]: inner } = tool as unknown as Record<
    symbol,
    { core: { definition: { render: Render } } } | undefined
  >;
  if (inner === undefined) throw new Error(`${tool.name} was not made by defineTool`);
  return inner.core.definition.render;
}

function compile(schema: JsonSchema, dialect: "draft-07" | "2020-12"): ValidateFunction {
  const ajv =
    dialect === "draft-07"
      ? new Ajv({ strict: false, allErrors: true })
      : new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  return ajv.compile(structuredClone(schema) as Record<string, unknown>);
}
