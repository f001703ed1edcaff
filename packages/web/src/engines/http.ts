import { type Clock, ToolError } from "@toolhaft/core";
import type { Net, NetResponse } from "@toolhaft/net";
import { httpError, isBotWall, readFailed } from "../http-error.ts";
import type { Fetched, PageQuery, Scope } from "./types.ts";

const maxBytes = 20 * 1024 * 1024;

/** The answer to a conditional request when nothing has changed. */
export type HttpAnswer = { unchanged: true; headers: ReadonlyMap<string, string> } | ({ unchanged: false } & Fetched);

async function ask(net: Net, query: PageQuery, headers: Record<string, string>, scope: Scope): Promise<NetResponse> {
  return net.request({ url: query.url, headers, timeoutMs: query.timeoutMs, maxBytes }, scope);
}

const named = (headers: Readonly<Record<string, string>>, name: string): boolean =>
  Object.keys(headers).some((key) => key.toLowerCase() === name);

/**
 * One page over HTTP.
 *
 * @param conditions - headers of a conditional request
 * @throws ToolError for a status that is no success, unless the caller wants it
 */
export async function fetchPage(
  net: Net,
  query: PageQuery,
  conditions: Record<string, string>,
  scope: Scope,
  clock: Clock,
): Promise<HttpAnswer> {
  const chosen = named(query.headers, "accept");
  const headers = { ...(chosen ? {} : { accept: query.accept }), ...query.headers, ...conditions };
  let response = await ask(net, query, headers, scope);
  if (response.status === 406 && !chosen) {
    await response.discard();
    response = await ask(net, query, { ...headers, accept: "*/*" }, scope);
  }
  if (response.status === 304 && Object.keys(conditions).length > 0) {
    await response.discard();
    return { unchanged: true, headers: response.headers };
  }
  const failed = response.status < 200 || response.status >= 300;
  if (failed && !query.allowErrorStatus) throw httpError(await readFailed(response), clock.now());
  if (response.headers.get("cf-mitigated") === "challenge") {
    const answer = await readFailed(response);
    if (isBotWall(answer.status, answer.headers, answer.body)) throw httpError(answer, clock.now());
  }
  const bytes = await response.bytes();
  if (response.status === 204 || response.status === 205) {
    throw new ToolError("not_found", `${response.url} answered ${response.status}: there is no content`);
  }
  return {
    unchanged: false,
    finalUrl: response.url,
    status: response.status,
    redirects: response.redirects,
    headers: response.headers,
    bytes,
    contentType: response.headers.get("content-type"),
    notes: response.notes,
  };
}
