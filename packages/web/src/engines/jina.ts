import { type Clock, ToolError } from "@toolhaft/core";
import type { Net } from "@toolhaft/net";
import { httpError, readFailed } from "../http-error.ts";
import type { Page } from "../page/types.ts";
import { refuseSecretUrl } from "../secret-url.ts";
import type { JinaOptions } from "../types.ts";
import { oneLine } from "../untrusted.ts";
import type { PageQuery, Scope } from "./types.ts";

const defaultBaseUrl = "https://r.jina.ai";
const maxBytes = 20 * 1024 * 1024;

type ServedFormat = "markdown" | "text" | "html";

export interface ServedPage {
  finalUrl: string;
  status: number;
  page: Page;
}

const served = (format: string): format is ServedFormat =>
  format === "markdown" || format === "text" || format === "html";

/** The head lines that the service writes above the text. */
function splitHead(text: string): { head: ReadonlyMap<string, string>; body: string } {
  const head = new Map<string, string>();
  const marker = /^(?:Markdown Content|Text Content|HTML Content):[ \t]*\n/m.exec(text);
  const top = marker === null ? text.slice(0, 2_000) : text.slice(0, marker.index);
  const lines = top.split("\n");
  let used = 0;
  for (const line of lines) {
    const found = /^(Title|URL Source|Published Time|Warning|Number of Pages):[ \t]*(.*)$/.exec(line);
    if (found?.[1] !== undefined && found[2] !== undefined) {
      // The service may write several warnings: the one about the target decides.
      const before = head.get(found[1]);
      head.set(found[1], before === undefined ? found[2] : `${before}\n${found[2]}`);
    } else if (line.trim() !== "" && marker === null) break;
    used += line.length + 1;
  }
  if (marker !== null) return { head, body: text.slice(marker.index + marker[0].length) };
  return { head, body: head.size === 0 ? text : text.slice(used) };
}

/** The status that the service met at the target, when it says so. */
function targetStatus(warnings: string): number | undefined {
  const found = /Target URL returned error (\d{3})/.exec(warnings)?.[1];
  return found === undefined ? undefined : Number(found);
}

function serviceError(text: string): { code: number; message: string } | undefined {
  if (!text.startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null || !("code" in value) || typeof value.code !== "number")
    return undefined;
  if (value.code < 400) return undefined;
  const message = "readableMessage" in value ? value.readableMessage : "message" in value ? value.message : "";
  return { code: value.code, message: oneLine(String(message)) };
}

function failure(status: number, url: string, words: string): ToolError {
  const message = `the reader service says that ${url} answered ${status}${words === "" ? "" : `: "${words}"`}`;
  if (status === 404 || status === 410)
    return new ToolError("not_found", message, { hint: "check the spelling", details: { status } });
  if (status === 401 || status === 402) {
    return new ToolError("unavailable", message, {
      hint: "give a key with funds: createWeb({ jina: { apiKey } }) or JINA_API_KEY",
      details: { status },
    });
  }
  if (status === 429 || status === 503)
    return new ToolError("unavailable", message, {
      hint: "wait, then try again",
      retryable: true,
      details: { status },
    });
  return new ToolError("upstream", message, { details: { status } });
}

export interface JinaReader {
  read(query: PageQuery, scope: Scope): Promise<ServedPage>;
}

/**
 * A reader service: a third party that fetches the page. It is told the URL, so it is asked only when the user set it up or
 * the gate grants `net.share`, and never for a URL that seems to hold a secret.
 */
export function createJinaReader(
  net: Net,
  options: JinaOptions | undefined,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
): JinaReader {
  const base = (options?.baseUrl ?? defaultBaseUrl).replace(/\/+$/, "");
  const apiKey = options?.apiKey ?? env.JINA_API_KEY;

  return {
    async read(query, scope) {
      const format = query.format === "auto" ? "markdown" : query.format;
      if (!served(format)) {
        throw new ToolError("unsupported", `the reader service gives markdown, text and html, not ${format}`, {
          hint: 'use engine: "default"',
        });
      }
      const target = net.check(query.url).url;
      refuseSecretUrl(target, new URL(base).host);
      target.hash = "";
      const response = await net.request(
        {
          url: `${base}/${target.href}`,
          permission: options === undefined ? "net.share" : "net.fetch",
          timeoutMs: query.timeoutMs,
          maxBytes,
          headers: {
            accept: "text/plain",
            "x-return-format": format,
            ...(query.selector === undefined ? {} : { "x-target-selector": query.selector }),
            ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
          },
        },
        scope,
      );
      if (response.status === 401 || response.status === 402) {
        await response.discard();
        throw failure(response.status, new URL(base).host, "the service wants a key");
      }
      if (response.status >= 400) throw httpError(await readFailed(response), clock.now());
      const text = new TextDecoder().decode(await response.bytes());
      const refused = serviceError(text);
      if (refused !== undefined) throw failure(refused.code, target.href, refused.message);
      const { head, body } = splitHead(text);
      const warning = head.get("Warning") ?? "";
      const status = targetStatus(warning);
      if (status !== undefined && status >= 400) throw failure(status, target.href, oneLine(warning));
      const title = head.get("Title");
      const published = head.get("Published Time");
      return {
        finalUrl: head.get("URL Source") ?? target.href,
        status: status ?? 200,
        page: {
          kind: "html",
          contentType: format === "markdown" ? "text/markdown" : format === "html" ? "text/html" : "text/plain",
          charset: "utf-8",
          format,
          content: body.replace(/^\n+/, ""),
          ...(title === undefined || title === "" ? {} : { title }),
          metadata: { ...(title === undefined ? {} : { title }), ...(published === undefined ? {} : { published }) },
          mayNeedJavaScript: false,
          notes: warning === "" ? [] : [{ code: "service_warning", message: oneLine(warning) }],
        },
      };
    },
  };
}
