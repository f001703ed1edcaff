import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** Folder of the public sets, which are never part of the repository; undefined when it is not there. */
export function dataFolder(): string | undefined {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const wanted = process.env.TOOLHAFT_DATA ?? join(root, "..", "shared", "data");
  const nested = join(root, "..", "..", "shared", "data");
  return [wanted, nested].find((folder) => existsSync(join(folder, "locomo")));
}

export interface Document {
  id: string;
  body: string;
  about: string[];
  thread: string;
}

export interface Question {
  text: string;
  gold: readonly string[];
  category: number;
}

/** One store's worth of documents with questions about them. */
export interface Collection {
  name: string;
  documents: Document[];
  questions: Question[];
}

const conversations = z.array(
  z.object({
    sample_id: z.string(),
    conversation: z.record(z.string(), z.unknown()),
    qa: z.array(z.object({ question: z.string(), category: z.number(), evidence: z.unknown().optional() })),
  }),
);
const turns = z.array(
  z.object({ speaker: z.string(), dia_id: z.string(), text: z.string(), blip_caption: z.string().optional() }),
);

/** One turn is one memory: about its speaker, in the thread of its session. */
export function locomo(folder: string): Collection[] {
  const parsed = conversations.parse(JSON.parse(readFileSync(join(folder, "locomo", "visible.json"), "utf8")));
  return parsed.map(({ sample_id, conversation, qa }) => {
    const documents = Object.entries(conversation)
      .filter(([key]) => /^session_\d+$/.test(key))
      .flatMap(([thread, value]) =>
        turns.parse(value).map((turn) => ({
          id: turn.dia_id,
          body: turn.blip_caption ? `${turn.text} ${turn.blip_caption}` : turn.text,
          about: [turn.speaker],
          thread: `${sample_id}:${thread}`,
        })),
      );
    const known = new Set(documents.map(({ id }) => id));
    const questions = qa.map(({ question, category, evidence }) => ({
      text: question,
      category,
      gold: [
        ...new Set([...JSON.stringify(evidence ?? []).matchAll(/D:?(\d+):(\d+)/g)].map((m) => `D${m[1]}:${m[2]}`)),
      ].filter((id) => known.has(id)),
    }));
    return { name: sample_id, documents, questions: questions.filter(({ gold }) => gold.length > 0) };
  });
}

const squad = z.object({
  data: z.array(
    z.object({
      paragraphs: z.array(z.object({ context: z.string(), qas: z.array(z.object({ question: z.string() })) })),
    }),
  ),
});

/** Equal passages count as one; each stands by itself. */
export function passages(folder: string, file: string): Collection {
  const parsed = squad.parse(JSON.parse(readFileSync(join(folder, "cjk", file), "utf8")));
  const ids = new Map<string, string>();
  const documents: Document[] = [];
  const questions: Question[] = [];
  for (const paragraph of parsed.data.flatMap(({ paragraphs }) => paragraphs)) {
    const id = ids.get(paragraph.context) ?? `p${documents.length}`;
    if (!ids.has(paragraph.context)) {
      ids.set(paragraph.context, id);
      documents.push({ id, body: paragraph.context, about: [], thread: id });
    }
    for (const { question } of paragraph.qas) questions.push({ text: question, gold: [id], category: 1 });
  }
  return { name: file, documents, questions };
}
