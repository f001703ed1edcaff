import { type Family, nearest, ToolError } from "@toolhaft/core";
import { type Assembled, assemble } from "./assemble.ts";
import { gather } from "./gather.ts";
import type { ContextCaller, ContextSource, SourceResult, TokenCounter } from "./source.ts";
import { type Encoding, loadTokens } from "./tokens.ts";
import { assembleTool } from "./tools/assemble.ts";

export interface ContextOptions {
  /** Where to look. They are borrowed: the family never closes them. */
  sources: readonly ContextSource[];
  /** Counts tokens. @default the encoding's own, loaded on the first call */
  tokens?: TokenCounter;
  /** @default "o200k_base" */
  encoding?: Encoding;
  /** Milliseconds a source may take. @default 5_000 */
  sourceTimeoutMs?: number;
  /** Most code points of a snippet, 60 to 2,000: counting an unbroken run takes quadratic time. @default 600 */
  snippetChars?: number;
}

export interface ContextFamily extends Family {
  readonly name: "context";
}

export interface Assembler {
  assemble(
    input: { topic: string; maxTokens: number; sources?: readonly string[] | undefined },
    caller: ContextCaller,
    signal: AbortSignal,
  ): Promise<Assembled>;
}

/** Sources that a caller may name whether they are configured here or not. */
export const knownSources = ["memory", "asset", "task", "session", "files"] as const;

/**
 * `context_assemble` over the given sources. Making the family opens and loads nothing.
 *
 * @throws TypeError for two sources of one name, a name that is no lower-case word, or an option out of range
 * @example
 * const context = createContextTools({ sources: [memorySource(memory), filesSource()] });
 */
export function createContextTools(options: ContextOptions): ContextFamily {
  checkOptions(options);
  const { encoding = "o200k_base", sourceTimeoutMs: timeoutMs = 5_000, snippetChars = 600 } = options;
  const sources = new Map(options.sources.map((source) => [source.name, source]));
  let loading: Promise<TokenCounter> | undefined;
  const tokens = () => {
    loading ??= options.tokens ? Promise.resolve(options.tokens) : loadTokens(encoding);
    return loading.catch((error: unknown) => {
      loading = undefined; // what was missing may be installed by the next call
      throw error;
    });
  };

  const assembler: Assembler = {
    async assemble({ topic, maxTokens, sources: names }, caller, signal) {
      const text = topic.replace(/\p{Surrogate}/gu, "\ufffd").trim();
      if (text === "") throw invalid("topic is blank", "say in a few words what to look for");
      const wanted = choose(names).map((name) => ({ name, source: sources.get(name) }));
      const [counter, found] = await Promise.all([tokens(), gather(text, wanted, { caller, timeoutMs, signal })]);
      if (signal.aborted) throw new ToolError("cancelled", "the search was stopped");
      refuseTotalFailure(found);
      return assemble(text, maxTokens, found, counter, { snippetChars });
    },
  };
  const close = async () => undefined;
  return { name: "context", tools: [assembleTool(assembler)], close, [Symbol.asyncDispose]: close };

  function choose(names: readonly string[] | undefined): string[] {
    const allowed = [...new Set([...knownSources, ...sources.keys()])];
    if (names === undefined) {
      if (sources.size > 0) return [...sources.keys()];
      throw new ToolError("unavailable", "no source is configured, so there is nowhere to look", {
        hint: "the host gives sources to createContextTools",
      });
    }
    if (names.length === 0)
      throw invalid("sources is empty", `leave it out to search all, or name some of: ${allowed.join(", ")}`);
    const distinct = [...new Set(names)];
    for (const name of distinct) {
      if (allowed.includes(name)) continue;
      const near = nearest(name, allowed, 1);
      const question = near.length > 0 ? `; did you mean "${near[0]}"?` : "";
      throw invalid(`sources: there is no source "${name}"${question}`, `allowed are ${allowed.join(", ")}`);
    }
    return distinct;
  }
}

/** A search in which every source failed is a failure, never "nothing found". */
function refuseTotalFailure(found: readonly SourceResult[]): void {
  if (found.some(({ status }) => status === "answered")) return;
  const causes = found.map((result) => {
    const cause = result.status === "failed" ? result.error.message : "not configured here";
    return `${result.name} (${cause})`;
  });
  const failed = found.flatMap((result) => (result.status === "failed" ? [result.error] : []));
  throw new ToolError("unavailable", `no source could be searched: ${causes.join(", ")}`, {
    hint: failed.length > 0 ? "repeat the call, or name other sources" : "name other sources, or leave sources out",
    retryable: failed.length > 0,
    details: { sources: found.map(({ name, status }) => ({ name, status })) },
  });
}

function checkOptions({ sources, tokens, encoding, sourceTimeoutMs, snippetChars }: ContextOptions): void {
  const names = new Set<string>();
  for (const { name, weight } of sources) {
    if (!/^[a-z][a-z0-9_-]{0,39}$/.test(name))
      throw new TypeError(`createContextTools: "${name}" is no name of a source: write a lower-case word`);
    if (names.has(name)) throw new TypeError(`createContextTools: two sources are called "${name}"`);
    if (weight !== undefined && !(Number.isFinite(weight) && weight >= 0))
      throw new TypeError(`createContextTools: the weight of "${name}" must be a number of 0 or more`);
    names.add(name);
  }
  if (encoding !== undefined && !["o200k_base", "cl100k_base"].includes(encoding))
    throw new TypeError(`createContextTools: unknown encoding "${encoding}"; there are o200k_base, cl100k_base`);
  if (tokens !== undefined && typeof tokens.count !== "function")
    throw new TypeError("createContextTools: tokens must have a function count");
  if (sourceTimeoutMs !== undefined && !(sourceTimeoutMs >= 1 && sourceTimeoutMs <= 600_000))
    throw new TypeError("createContextTools: sourceTimeoutMs must be 1 to 600000");
  if (snippetChars !== undefined && !(Number.isInteger(snippetChars) && snippetChars >= 60 && snippetChars <= 2_000))
    throw new TypeError("createContextTools: snippetChars must be a whole number from 60 to 2000");
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}
