import type { ContextHit, ContextSource } from "../source.ts";

/** What is needed of a session store: the `reader` of every store of `@toolhaft/session` has it. */
export interface SessionSearch {
  search(query: SessionQuery, signal: AbortSignal): Promise<{ hits: readonly SessionHit[] }>;
  /** The whole message of a hit; without it its excerpt is shown. */
  message?(sessionId: string, messageId: string, signal: AbortSignal): Promise<SessionMessage | undefined>;
}

export interface SessionQuery {
  query: string;
  match: "words";
  caseSensitive: boolean;
  directories: readonly string[] | "all";
  parts: readonly ("text" | "tool_input")[];
  sort: "relevance";
  limit: number;
  indexMs: number;
  scanMs: number;
}

export interface SessionHit {
  sessionId: string;
  title: string;
  messageId: string;
  /** Place of the message in the session, from 0. */
  index: number;
  role: string;
  /** ISO 8601. */
  at: string | null;
  part: string;
  excerpt: string;
  score: number;
}

export interface SessionMessage {
  parts: readonly { kind: string; text?: string | null }[];
}

export interface SessionSourceOptions {
  /** Sessions of which folders. @default the workspace of the call */
  directories?: readonly string[] | "all";
  /** Milliseconds that new transcripts may take to be read. @default 2_000 */
  indexMs?: number;
  weight?: number;
}

/** Hits of one session are read together, and more than are shown may lie in it. */
const hitsPerSession = 3;

/** Messages of earlier sessions, best first; one hit per session, because its ref is the session. */
export function sessionSource(reader: SessionSearch, options: SessionSourceOptions = {}): ContextSource {
  const { directories, indexMs = 2_000, weight } = options;
  return {
    name: "session",
    ...(weight !== undefined && { weight }),
    async search({ topic, limit, caller }, signal) {
      const { hits } = await reader.search(
        {
          query: topic,
          match: "words",
          caseSensitive: false,
          directories: directories ?? [caller.directory],
          parts: ["text", "tool_input"],
          sort: "relevance",
          limit: limit * hitsPerSession,
          indexMs,
          scanMs: 0,
        },
        signal,
      );
      const sessions = groups(hits);
      const chosen = [...sessions.values()].slice(0, limit);
      return Promise.all(chosen.map((group) => toHit(reader, group.slice(0, hitsPerSession), signal)));
    },
  };
}

/** Hits by session, the session of the best hit first. */
function groups(hits: readonly SessionHit[]): Map<string, SessionHit[]> {
  const found = new Map<string, SessionHit[]>();
  for (const hit of hits) {
    const group = found.get(hit.sessionId);
    if (group) group.push(hit);
    else found.set(hit.sessionId, [hit]);
  }
  return found;
}

async function toHit(reader: SessionSearch, group: readonly SessionHit[], signal: AbortSignal): Promise<ContextHit> {
  const [best] = group;
  if (best === undefined) throw new Error("a session without a hit");
  const texts = await Promise.all(group.map(async (hit) => `${hit.role}: ${await textOf(reader, hit, signal)}`));
  const at = best.at === null ? Number.NaN : Date.parse(best.at);
  return {
    ref: best.sessionId,
    title: best.title,
    text: [...new Set(texts)].join("\n"),
    score: Math.max(0, best.score),
    ...(Number.isFinite(at) && { at }),
    follow: { tool: "session_read", input: { session_id: best.sessionId, message_id: best.messageId } },
  };
}

async function textOf(reader: SessionSearch, hit: SessionHit, signal: AbortSignal): Promise<string> {
  if (hit.part !== "text") return hit.excerpt;
  const message = await reader.message?.(hit.sessionId, hit.messageId, signal);
  const texts = message?.parts.flatMap(({ kind, text }) => (kind === "text" && typeof text === "string" ? [text] : []));
  return texts === undefined || texts.length === 0 ? hit.excerpt : texts.join("\n");
}
