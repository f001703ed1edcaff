// Record what an agent does, then search, diff and fork it: npx tsx examples/session/main.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSessions, fromModelMessages, fromStep, recordSession } from "@toolhaft/session";
import { generateText, type LanguageModel, stepCountIs, type ToolSet } from "ai";

/** Runs the AI SDK's loop and records it: each finished step is appended, a failed append comes out of `flush`. */
export async function recorded(model: LanguageModel, prompt: string, tools: ToolSet, directory: string) {
  await using session = await recordSession({ directory, title: prompt });
  await session.append(fromModelMessages([{ role: "user", content: prompt }]));
  const { text } = await generateText({
    model,
    prompt,
    tools,
    stopWhen: stepCountIs(10),
    onStepFinish: (step) => session.append(fromStep(step)),
  });
  await session.flush();
  return { id: session.id, text };
}

if (process.argv[1] === import.meta.filename) {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-session-"));
  try {
    await using session = await recordSession({ directory, title: "Count words" });
    await session.append([
      { id: "m1", role: "user", parts: [{ kind: "text", text: "Count blank lines apart." }] },
      { id: "m2", role: "assistant", parts: [{ kind: "text", text: "countWords now leaves blank lines out." }] },
    ]);
    const bytes = (text: string) => new TextEncoder().encode(text);
    await session.file({
      messageId: "m2",
      path: "src/count.ts",
      before: bytes("export const countWords = (text: string) => text.split(/\\s/).length;\n"),
      after: bytes("export const countWords = (text: string) => text.split(/\\s+/).length;\n"),
    });
    const sessions = createSessions();
    const call = async (name: string, input: object) => {
      const tool = sessions.tools.find((one) => one.name === name);
      const result = await tool?.call(input, { directory });
      console.log(`${name}\n${result?.text}\n`);
    };
    await call("session_list", {});
    await call("session_search", { query: "blank lines" });
    await call("session_diff", { session_id: session.id });
    await call("session_fork", { session_id: session.id, message_id: "m1" });
    await sessions.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
