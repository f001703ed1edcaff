import { toJsonSchema } from "@toolhaft/core";
import { runGemini, toGemini } from "../../src/google.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { resultOf } from "./results.ts";
import { objectOf } from "./scripted-fetch.ts";

/** The loop of a program on `generateContent`; the responses are as the API writes them. */
async function runRaw(turn: Turn): Promise<Outcome> {
  const functionDeclarations = toGemini(turn.tools, { ...turn.options, onReport: () => undefined });
  const { host, options } = resultOf(turn);
  turn.signal?.throwIfAborted();
  const response = {
    candidates: [
      { content: { role: "model", parts: [{ functionCall: { name: turn.name, args: objectOf(turn.input) } }] } },
    ],
  };
  const ran = await runGemini(turn.tools, response, options);
  const contents = [...ran.contents];
  if (ran.questions.length > 0)
    contents.push(...(await runGemini(turn.tools, response, host.answer(ran.questions))).contents);
  const given = contents[0]?.parts[0]?.functionResponse.response ?? { error: "nothing" };
  const text = "output" in given ? given.output : given.error;
  return {
    ...host.outcome(text),
    failed: "error" in given,
    sent: functionDeclarations.map(({ name, parameters }) => ({ name, schema: parameters })),
  };
}

export const geminiHost: Host = {
  name: "Gemini",
  lost: ["images"],
  asks: "before",
  schemaOf(tool) {
    try {
      const schema = toJsonSchema(tool, "gemini");
      return Object.keys({ ...(schema.properties as object) }).length === 0 ? undefined : schema;
    } catch {
      // Reported and left out.
      return undefined;
    }
  },
  run: runRaw,
};
