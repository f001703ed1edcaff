import { isToolError } from "@toolhaft/core";
import type { ContextCaller, ContextHit, ContextSource, NotedHits, SourceFailure, SourceResult } from "./source.ts";
import { topicTerms } from "./words.ts";

/** Most hits of one source that are used. */
export const hitsPerSource = 20;

export interface GatherOptions {
  caller: ContextCaller;
  /** Milliseconds each source may take. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** A name that was asked for, and the source that has it. */
export interface Wanted {
  name: string;
  source: ContextSource | undefined;
}

/** Searches all sources at once; what goes wrong in one is told of that one. */
export function gather(topic: string, wanted: readonly Wanted[], options: GatherOptions): Promise<SourceResult[]> {
  const terms = topicTerms(topic);
  return Promise.all(
    wanted.map(async ({ name, source }): Promise<SourceResult> => {
      const start = performance.now();
      const base = () => ({
        name,
        weight: source?.weight ?? 1,
        semantic: source?.semantic ?? false,
        durationMs: Math.round(performance.now() - start),
      });
      if (source === undefined) return { ...base(), status: "not_configured" };
      try {
        const query = { topic, terms, limit: hitsPerSource, caller: options.caller };
        const given = await within(options, (signal) => source.search(query, signal));
        const noted = isNoted(given) ? given : undefined;
        const hits = checkedHits(noted === undefined ? given : noted.hits);
        return { ...base(), status: "answered", hits, ...(noted && { note: noted.note }) };
      } catch (error) {
        return { ...base(), status: "failed", error: failureOf(error) };
      }
    }),
  );
}

/** A source that does not answer is given up, also one that ignores its signal. */
async function within<T>(options: GatherOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, timeoutMs } = options;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const given = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(`no answer within ${timeoutMs} ms`)), timeoutMs);
    onAbort = () => reject(new Stopped("stopped"));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([given, start(() => work(stop.signal))]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    stop.abort();
  }
}

/** A source may throw before it returns a promise. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

class Late extends Error {}
class Stopped extends Error {}

function failureOf(error: unknown): SourceFailure {
  if (error instanceof Late) return { code: "timeout", message: error.message, retryable: true };
  if (error instanceof Stopped) return { code: "cancelled", message: error.message, retryable: true };
  const message = error instanceof Error ? error.message : String(error);
  const first = message.replace(/\s+/gu, " ").trim().slice(0, 500);
  if (isToolError(error)) return { code: error.code, message: first, retryable: error.retryable };
  const code = error instanceof InvalidHit ? "internal" : "upstream";
  return { code, message: first === "" ? "it gave no reason" : first, retryable: code === "upstream" };
}

/** What a source returned that is no hit: its author's mistake, told as such. */
class InvalidHit extends Error {}

/** The first hits, each checked: sources are written by others. */
function checkedHits(given: unknown): ContextHit[] {
  if (!Array.isArray(given)) throw new InvalidHit("it returned no list of hits");
  return given.slice(0, hitsPerSource).map((hit: unknown, index) => {
    const fault = faultOf(hit);
    if (fault !== undefined) throw new InvalidHit(`its hit ${index + 1} is not valid: ${fault}`);
    return hit as ContextHit;
  });
}

function isNoted(given: unknown): given is NotedHits {
  return (
    typeof given === "object" && given !== null && "note" in given && typeof given.note === "string" && "hits" in given
  );
}

function faultOf(hit: unknown): string | undefined {
  if (typeof hit !== "object" || hit === null) return "no object";
  const { ref, title, text, score, at, follow }: Partial<Record<keyof ContextHit, unknown>> = hit;
  if (typeof ref !== "string" || ref.trim() === "") return "ref must be a text that is not empty";
  if (typeof title !== "string") return "title must be a text";
  if (typeof text !== "string") return "text must be a text";
  if (score !== undefined && !(typeof score === "number" && Number.isFinite(score) && score >= 0))
    return "score must be a number of 0 or more";
  if (at !== undefined && !(typeof at === "number" && Number.isFinite(at))) return "at must be a time in milliseconds";
  if (follow !== undefined && !isFollowUp(follow)) return "follow must name a tool and its input";
  return undefined;
}

function isFollowUp(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("tool" in value) || !("input" in value)) return false;
  return typeof value.tool === "string" && typeof value.input === "object" && value.input !== null;
}
