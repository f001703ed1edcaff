import assert from "node:assert/strict";
import { type ErrorCode, isToolError } from "@toolhaft/core";
import type { Message, Usage } from "../model.ts";
import type {
  ListQuery,
  NewMessage,
  NewPart,
  NewSession,
  SearchHit,
  SearchQuery,
  SessionForker,
  SessionRecorder,
  SessionStore,
  SessionWriter,
} from "../store.ts";

/** A store that sessions are recorded into and read from. */
export type RecordingStore = SessionStore & SessionRecorder;

/** A fresh store that nobody else uses. */
export interface StoreUnderTest {
  store: RecordingStore;
  /** Another handle on the same store, as another process has it; closed with the store. */
  another(): Promise<RecordingStore>;
  close(): Promise<void>;
}

export type OpenStore = () => Promise<StoreUnderTest>;

export interface ContractCase {
  title: string;
  run(store: StoreUnderTest): Promise<void>;
}

export async function withStore(open: OpenStore, run: ContractCase["run"]): Promise<void> {
  const store = await open();
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

export const signal: AbortSignal = new AbortController().signal;
export const project = "/w/app";

export function text(words: string): NewPart {
  return { kind: "text", text: words };
}

export function call(callId: string, more: Partial<Extract<NewPart, { kind: "tool" }>> = {}): NewPart {
  return { kind: "tool", name: "read_file", callId, input: "{}", output: "done", status: "completed", ...more };
}

export function user(id: string, words: string, more: Partial<NewMessage> = {}): NewMessage {
  return { id, role: "user", parts: [text(words)], ...more };
}

export function assistant(id: string, parts: readonly NewPart[], more: Partial<NewMessage> = {}): NewMessage {
  return { id, role: "assistant", parts, ...more };
}

export function usage(inputTokens: number, outputTokens: number, more: Partial<Usage> = {}): Usage {
  return { inputTokens, outputTokens, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, ...more };
}

/** Opens a session, appends to it, and closes the writer. */
export async function recorded(
  store: RecordingStore,
  session: Partial<NewSession>,
  messages: readonly NewMessage[],
): Promise<string> {
  const writer: SessionWriter = await store.open({ directory: project, ...session });
  await writer.append(messages);
  await writer.flush();
  await writer[Symbol.asyncDispose]();
  return writer.id;
}

export async function messagesOf(
  store: RecordingStore,
  id: string,
  range: { from?: number; to?: number } = {},
): Promise<Message[]> {
  const found: Message[] = [];
  for await (const message of store.reader.messages(id, { branch: "main", ...range }, signal)) found.push(message);
  return found;
}

export async function idsOf(store: RecordingStore, id: string, range?: { from?: number; to?: number }) {
  return (await messagesOf(store, id, range)).map((message) => message.id);
}

export function listOf(store: RecordingStore, more: Partial<ListQuery> = {}) {
  return store.reader.list(
    { directories: [project], limit: 20, includeChildren: false, includeArchived: false, indexMs: 3_000, ...more },
    signal,
  );
}

export function searchIn(store: RecordingStore, query: string, more: Partial<SearchQuery> = {}) {
  return store.reader.search(
    {
      query,
      match: "words",
      caseSensitive: false,
      directories: [project],
      parts: ["text", "tool_input"],
      sort: "relevance",
      limit: 20,
      indexMs: 3_000,
      scanMs: 10_000,
      ...more,
    },
    signal,
  );
}

/** Ids of the messages that a search found, in its order. */
export async function foundBy(store: RecordingStore, query: string, more: Partial<SearchQuery> = {}) {
  return (await searchIn(store, query, more)).hits.map(({ messageId }) => messageId);
}

/** The text of a hit's excerpt that each mark covers. */
export function markedIn({ excerpt, marks }: SearchHit): string[] {
  const points = [...excerpt];
  return marks.map(([from, to]) => points.slice(from, to).join(""));
}

export function forkerOf(store: RecordingStore): SessionForker {
  assert.ok(store.forker, "the store forks");
  return store.forker;
}

export async function forkOf(store: RecordingStore, id: string, at?: string, title?: string) {
  const ask = async () => {
    throw new Error("a store of its own asks nothing");
  };
  return forkerOf(store).fork(id, at, { ask, ...(title !== undefined && { title }) }, signal);
}

export async function rejects(work: Promise<unknown>, code: ErrorCode, message?: RegExp): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(isToolError(error), `a ToolError, not ${String(error)}`);
    assert.equal(error.code, code);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  });
}
