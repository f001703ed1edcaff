import { defineTool, nearest, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { checkSession } from "../engine.ts";
import { lookFacts } from "../facts.ts";
import type { DeskOf } from "../functions.ts";
import { phases, signalTypes } from "../model.ts";
import { indexSpecs, knownRole } from "../specs/specs.ts";
import { viewState } from "../state-view.ts";
import { renderState } from "./state-text.ts";

const verdict = { expr: z.string(), value: z.boolean(), why: z.array(z.string()) };
const output = z.object({
  session: z.object({
    id: z.string(),
    known: z.boolean(),
    turn: z.int(),
    openPause: z.object({ seq: z.int(), type: z.enum(signalTypes), expiresAt: z.number().optional() }).optional(),
    latestTerminating: z.int().nullable(),
  }),
  functions: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      role: z.string().nullable(),
      phase: z.enum(phases),
      label: z.string().optional(),
      run: z.int(),
      turns: z.int(),
      gate: z.object(verdict).optional(),
      requires: z.array(z.object({ name: z.string(), met: z.boolean() })),
      continuation: z.object({ count: z.int(), max: z.int(), until: z.object(verdict).optional() }),
      values: z.record(z.string(), z.unknown()),
      problems: z.array(z.string()),
      transitions: z.array(
        z.object({
          ...verdict,
          firedAt: z.number().nullable(),
          activate: z.array(z.string()),
          deactivate: z.array(z.string()),
        }),
      ),
      evidence: z
        .object({
          required: z.array(z.object({ label: z.string(), observed: z.boolean() })),
          other: z.array(z.string()),
        })
        .optional(),
      artifacts: z
        .array(
          z.object({
            name: z.string(),
            use: z.enum(["produces", "consumes"]),
            state: z.enum(["missing", "empty", "present"]),
            path: z.string(),
          }),
        )
        .optional(),
    }),
  ),
  artifacts: z
    .array(z.object({ name: z.string(), path: z.string(), bytes: z.number(), modifiedAt: z.number() }))
    .optional(),
  total: z.int(),
  nextCursor: z.string().optional(),
});

/** `function_state`: where the functions of a session stand, and why. */
export function stateTool(deskOf: DeskOf) {
  return defineTool({
    name: "function_state",
    title: "Where functions stand",
    description: "Shows a session's active functions: phase, gate with reasons, evidence, artifacts, open transitions.",
    keywords: ["workflow", "state machine", "gate", "why blocked", "evidence", "phase"],
    inputSchema: z.object({
      session_id: z.string().min(1).max(300).optional().describe("Default: this one."),
      include_artifacts: z.boolean().default(true).describe("Artifacts, too."),
      include_evidence: z.boolean().default(true).describe("Evidence, too."),
      role_id: z.string().min(1).max(300).optional().describe("This role and below."),
      limit: z.int().min(1).max(200).default(50).describe("Page size."),
      cursor: z.string().optional().describe("Next page."),
    }),
    outputSchema: output,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const desk = deskOf(context);
      const session = input.session_id ?? context.sessionId;
      checkSession(session);
      const role = input.role_id === undefined ? undefined : await knownRole(desk.specs, input.role_id);
      const state = await desk.store.read(session);
      if (input.session_id !== undefined && input.session_id !== context.sessionId && state.step === 0) {
        const near = nearest(session, await desk.store.sessions(1_000), 5);
        throw new ToolError("not_found", `no function state is recorded for session "${session}"`, {
          hint: near.length > 0 ? `near: ${near.join(", ")}` : "leave session_id out to look at this session",
        });
      }
      const index = indexSpecs(await desk.specs.list());
      const facts = await lookFacts(state, index, desk.artifacts, Math.floor(desk.clock.now()));
      return viewState(
        { desk, state, index, facts: { ...facts, seq: 0 } },
        {
          artifacts: input.include_artifacts,
          evidence: input.include_evidence,
          limit: input.limit,
          cursor: input.cursor,
          ...(role !== undefined && { role }),
        },
      );
    },
    render: (data, input, toolName) => renderState(data, input, toolName("function_state")),
  });
}
