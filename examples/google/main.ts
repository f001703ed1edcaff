// Ask Gemini about a folder, without an SDK: GEMINI_API_KEY=… npx tsx examples/google/main.ts "What is this?"
import { type GeminiResponse, runGemini, toGemini } from "@toolhaft/adapters/google";
import { createContext } from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";

/** One request to `generateContent`. */
export type Generate = (body: Record<string, unknown>) => Promise<GeminiResponse>;

/** Answers a question about the files in a folder. */
export async function ask(generate: Generate, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const options = { context: createContext({ directory }) };
  const tools = [{ functionDeclarations: toGemini(hashline, options) }];
  const contents: unknown[] = [{ role: "user", parts: [{ text: question }] }];
  for (let step = 0; step < 20; step++) {
    const response = await generate({ contents, tools });
    const content = response.candidates?.[0]?.content;
    const ran = await runGemini(hashline, response, options);
    if (ran.contents.length === 0) return JSON.stringify(content?.parts ?? []);
    contents.push(content, ...ran.contents);
  }
  throw new Error("no answer after 20 steps");
}

if (process.argv[1] === import.meta.filename) {
  const model = process.env.GEMINI_MODEL ?? "gemini-2.5-flash";
  const url = `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent`;
  const headers = { "content-type": "application/json", "x-goog-api-key": process.env.GEMINI_API_KEY ?? "" };
  const generate: Generate = async (body) => {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as GeminiResponse;
  };
  console.log(await ask(generate, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
