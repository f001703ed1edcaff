import { type Clock, maskSecrets } from "@toolhaft/core";
import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { Message } from "../model.ts";
import { excerptAround, type Matcher } from "../search-text.ts";
import type { SearchedPart, SearchHit, SearchQuery } from "../store.ts";
import type { TranscriptFormat } from "./format.ts";
import { readMessages } from "./read-messages.ts";
import { insideOf } from "./summaries.ts";

export interface SearchOptions {
  clock: Clock;
  maxLineBytes: number;
  signal: AbortSignal;
  recent?: boolean;
}

/** Sessions `s` that are one session or subagents below it. */
export const familySql = `s.row IN (
  WITH RECURSIVE below(row, id) AS (
    SELECT row, id FROM sessions WHERE store = ? AND id = ? AND live = 1
    UNION SELECT c.row, c.id FROM below JOIN sessions c ON c.store = ? AND c.parent = below.id AND c.parent_kind = 'subagent' AND c.live = 1)
  SELECT row FROM below)`;

/** SQL that narrows parts `p` of sessions `s` to what is asked; a message is looked up only where the answer needs it. */
export function scopeOf(store: string, query: SearchQuery): { sql: string; parameters: SqlValue[] } {
  const parts = ["s.store = ?", "s.live = 1"];
  const parameters: SqlValue[] = [store];
  if (query.session === undefined) {
    const inside = insideOf(query.directories);
    parts.push(inside.sql);
    parameters.push(...inside.parameters);
    // A copied message is found once, where it was written.
    parts.push(
      `(s.parent IS NULL OR (SELECT inherited FROM messages WHERE row = p.message) = 0
        OR NOT EXISTS (SELECT 1 FROM sessions above WHERE above.store = s.store AND above.id = s.parent AND above.live = 1 AND ${inside.sql.replaceAll("s.directory", "above.directory")}))`,
    );
    parameters.push(...inside.parameters);
  } else {
    parts.push(familySql);
    parameters.push(store, query.session, store);
  }
  const ofMessage: string[] = [];
  if (query.role !== undefined) {
    ofMessage.push("role = ?");
    parameters.push(query.role);
  }
  if (query.from !== undefined) {
    ofMessage.push("at >= ?");
    parameters.push(new Date(query.from).toISOString());
  }
  if (query.to !== undefined) {
    ofMessage.push("at <= ?");
    parameters.push(new Date(query.to).toISOString());
  }
  if (ofMessage.length > 0)
    parts.push(`EXISTS (SELECT 1 FROM messages WHERE row = p.message AND ${ofMessage.join(" AND ")})`);
  return { sql: parts.join(" AND "), parameters };
}

/** The one message with a number, main path or not. */
export async function messageAt(
  db: Database,
  format: TranscriptFormat,
  session: number,
  idx: number,
  options: SearchOptions,
): Promise<Message | undefined> {
  const place = db.get<{ n: number }>(
    "SELECT count(*) AS n FROM messages WHERE session = :session AND seq < (SELECT seq FROM messages WHERE session = :session AND idx = :idx)",
    { session, idx },
  );
  const from = place?.n ?? 0;
  for await (const message of readMessages(
    db,
    format,
    session,
    { from, to: from + 1, branch: "all" },
    { ...options, recent: options.recent ?? false },
  )) {
    return message;
  }
  return undefined;
}

/** Texts of a message that belong to one searched part. */
export function partTexts(message: Message, part: SearchedPart): { text: string; tool: string | null }[] {
  return message.parts.flatMap((content): { text: string; tool: string | null }[] => {
    if (part === "tool_input")
      return content.tool === null ? [] : [{ text: content.tool.input, tool: content.tool.name }];
    if (part === "tool_output") {
      const output = content.tool?.output ?? null;
      return output === null || content.tool === null ? [] : [{ text: output, tool: content.tool.name }];
    }
    return content.kind === part && content.text !== null ? [{ text: content.text, tool: null }] : [];
  });
}

const weekMs = 7 * 24 * 3_600_000;

/** Within ±10 %: 1.1 for now, 0.9 for long ago, half way after a week. */
export function recency(at: string | null, now: number): number {
  return recencyAt(at === null ? null : Date.parse(at), now);
}

export function recencyAt(at: number | null, now: number): number {
  if (at === null) return 0.9;
  const age = Math.max(0, now - at);
  return 0.9 + 0.2 / (1 + age / weekMs);
}

/** Code units on either side of a hit in which secrets are looked for. */
const maskedUnits = 8_192;

/** The text around the first mark with its secrets masked; the whole text, when it is short. */
function maskedAround(text: string, matcher: Matcher): string {
  if (text.length <= 4 * maskedUnits) return maskSecrets(text);
  const [first] = matcher.marks(text, 1);
  const at = first === undefined ? 0 : [...text.slice(0, 2 * first[0])].slice(0, first[0]).join("").length;
  const start = Math.max(0, at - maskedUnits);
  const end = Math.min(text.length, at + 2 * maskedUnits);
  return `${start > 0 ? "…" : ""}${maskSecrets(wholePoints(text.slice(start, end)))}${end < text.length ? "…" : ""}`;
}

/** Without half a character at either end. */
function wholePoints(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}

/** What a search shows of a message: the first of its fitting texts that a mark falls into, and how many more there are. */
export function hitFrom(
  message: Message,
  part: SearchedPart,
  fitting: readonly { text: string; tool: string | null }[],
  matcher: Matcher,
  found: Pick<SearchHit, "sessionId" | "title" | "allTerms" | "score">,
): Omit<SearchHit, "after"> | undefined {
  const chosen = fitting.find(({ text }) => matcher.marks(text, 1).length > 0) ?? fitting[0];
  if (chosen === undefined) return undefined;
  const text = matcher.redact ? maskedAround(chosen.text, matcher) : chosen.text;
  return {
    sessionId: found.sessionId,
    title: found.title,
    messageId: message.id,
    index: message.index,
    role: message.role,
    at: message.at,
    part,
    tool: chosen.tool,
    ...excerptAround(text, matcher.marks(text, 20)),
    allTerms: found.allTerms,
    more: fitting.length - 1,
    score: found.score,
  };
}
