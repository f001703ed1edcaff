import { ToolError } from "@toolhaft/core";
import { type NetResponse, parseRetryAfter } from "@toolhaft/net";
import { oneLine } from "./untrusted.ts";

const bodyBytes = 8 * 1024;

/** Marks that the challenge pages of bot walls carry in their structure; ordinary pages about such walls do not. */
const challengeMarks =
  /\/cdn-cgi\/challenge-platform\/|window\._cf_chl_opt|id=["']challenge-(?:form|running|stage)["']|<script[^>]+(?:captcha-delivery\.com|\/_Incapsula_Resource|awswaf\.com|px-cloud\.net|hcaptcha\.com\/1\/api|geo\.captcha)|id=["']px-captcha["']|<form[^>]+(?:captcha|challenge)[^>]*>/i;

/** Whether an answer asks to prove that a person is there. */
export function isBotWall(status: number, headers: ReadonlyMap<string, string>, body: string): boolean {
  if (headers.get("cf-mitigated") === "challenge") return true;
  return (status === 403 || status === 429 || status === 503) && challengeMarks.test(body);
}

/** The words of an error page, without its markup. */
export function bodyWords(body: string): string {
  return oneLine(body.replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, " ").replace(/<[^>]*>/g, " "));
}

export interface FailedAnswer {
  url: string;
  status: number;
  statusText: string;
  headers: ReadonlyMap<string, string>;
  redirects: readonly { status: number; from: string; to: string }[];
  body: string;
}

/** Reads as much of a failed answer as an error may show. */
export async function readFailed(response: NetResponse): Promise<FailedAnswer> {
  const { bytes } = await response.prefix(bodyBytes);
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(response.headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  return { ...response, body: decodeLoosely(bytes, charset) };
}

function decodeLoosely(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new TextDecoder().decode(bytes);
  }
}

/** An HTTP error as a failure: what the site said is quoted and never taken for content. */
export function httpError(answer: FailedAnswer, now: number): ToolError {
  const { status, url, headers } = answer;
  const words = bodyWords(answer.body);
  const said = words === "" ? "" : `; the site says: "${words}"`;
  const message = `${url} answered ${status}${answer.statusText === "" ? "" : ` ${oneLine(answer.statusText, 60)}`}${said}`;
  const details = {
    status,
    headers: Object.fromEntries(headers),
    redirects: [...answer.redirects],
    body: answer.body.slice(0, bodyBytes),
  };
  if (isBotWall(status, headers, answer.body)) {
    return new ToolError(
      "upstream",
      `${url} answered ${status} with a page that wants to know whether a person is there`,
      {
        hint: 'try engine: "browser"',
        details: { ...details, botWall: true },
      },
    );
  }
  if (status === 404 || status === 410) {
    return new ToolError("not_found", message, {
      hint: "check the spelling, or look for the page with web_search",
      details,
    });
  }
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"), now);
    return new ToolError("unavailable", message, {
      hint: "wait, then try again",
      retryable: true,
      details: retryAfterMs === undefined ? details : { ...details, retryAfterMs },
    });
  }
  if (status === 401 || status === 403 || status === 407) {
    return new ToolError("upstream", message, { hint: "the site wants credentials: give them in headers", details });
  }
  return new ToolError("upstream", message, { details, retryable: status >= 500 || status === 408 || status === 425 });
}
