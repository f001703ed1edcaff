import { ToolError } from "@toolhaft/core";
import { type NetRequest, parseRetryAfter } from "@toolhaft/net";
import { bodyWords } from "../http-error.ts";
import type { ProviderScope, SourceAnswer } from "../types.ts";
import { oneLine } from "../untrusted.ts";

const maxBytes = 4 * 1024 * 1024;

/** What a back end sent. */
export interface Received {
  status: number;
  contentType: string;
  url: string;
  text: string;
}

type Failure = Exclude<SourceAnswer, { status: "ok" | "empty" }>;

/** Asks a back end once. What is no answer of 200 or 202 is told as a state of the source. */
export async function askBackEnd(request: NetRequest, scope: ProviderScope): Promise<Received | Failure> {
  const response = await scope.net.request({ ...request, maxBytes, retry: { attempts: 1 } }, scope);
  const { bytes } = await response.prefix(maxBytes);
  const text = new TextDecoder().decode(bytes);
  const { status } = response;
  const received = { status, contentType: response.headers.get("content-type") ?? "", url: response.url, text };
  if (status === 200 || status === 202) return received;
  const words = bodyWords(text);
  const message = `answered ${status}${words === "" ? "" : `: ${oneLine(words, 120)}`}`;
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), scope.clock.now());
    return { status: "rate_limited", message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if (status === 401) return { status: "auth_required", message };
  if (status === 402) return { status: "rate_limited", message: `${message} (the plan is used up)` };
  if (status === 403 || status === 451) return { status: "blocked", message };
  return { status: "error", message };
}

export const isFailure = (answer: Received | Failure): answer is Failure => !("text" in answer);

/** JSON of a back end; HTML in its place is a failure, not an empty list. */
export function parseJson(received: Received): { value: unknown } | Failure {
  try {
    return { value: JSON.parse(received.text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const html = /^\s*</.test(received.text);
    return { status: "error", message: html ? "sent HTML where JSON was expected" : "sent JSON that cannot be read" };
  }
}

export const malformed: Failure = { status: "error", message: "the answer has another shape than expected" };

/** A thrown failure as a state of the source. An abort of the whole call goes on. */
export function thrownAnswer(error: unknown, signal: AbortSignal | undefined): Failure {
  if (signal?.aborted === true || !(error instanceof ToolError)) throw error;
  switch (error.code) {
    case "timeout":
      return { status: "timeout", message: oneLine(error.message) };
    case "denied":
      return { status: "blocked", message: oneLine(error.message) };
    case "unavailable": {
      const retryAfterMs = error.details?.retryAfterMs;
      return typeof retryAfterMs === "number"
        ? { status: "rate_limited", message: oneLine(error.message), retryAfterMs }
        : { status: "error", message: oneLine(error.message) };
    }
    default:
      return { status: "error", message: oneLine(error.message) };
  }
}

/** An ISO date of what a back end calls a date; undefined when it is none. */
export function isoDate(value: unknown): string | undefined {
  if (typeof value === "number") return new Date(value * 1000).toISOString();
  if (typeof value !== "string" || !/\d{4}/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Adds `site:` where a back end understands it in the query. */
export const withSite = (query: string, site: string | undefined): string =>
  site === undefined ? query : `${query} site:${site}`;

export const isWebUrl = (text: unknown): text is string =>
  typeof text === "string" && /^https?:\/\//i.test(text) && URL.canParse(text);
