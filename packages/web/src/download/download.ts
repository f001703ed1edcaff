import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { type Clock, type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import type { Net, NetResponse } from "@toolhaft/net";
import type { ResolvedPath, Scope, Workspace } from "@toolhaft/workspace";
import { httpError, readFailed } from "../http-error.ts";
import { downloadName } from "./file-name.ts";
import { type Part, partOf } from "./parts.ts";

export interface DownloadQuery {
  url: string;
  path: string;
  sha256: string | undefined;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  overwrite: boolean;
  maxBytes: number;
}

export interface Downloaded {
  url: string;
  finalUrl: string;
  path: string;
  bytes: number;
  contentType: string;
  sha256: string;
  etag?: string;
  resumedFrom?: number;
  alreadyThere: boolean;
}

export interface DownloadParts {
  net: Net;
  clock: Clock;
  workspace(directory: string): Promise<Workspace>;
}

async function hashFile(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** What a later request can hold against the bytes that are there: a strong ETag, else a date. */
function validatorOf(response: NetResponse): string | undefined {
  const etag = response.headers.get("etag");
  if (etag !== undefined && /^"/.test(etag)) return etag;
  return response.headers.get("last-modified");
}

const isEncoded = (response: NetResponse): boolean =>
  !["", "identity"].includes((response.headers.get("content-encoding") ?? "").trim().toLowerCase());

/** HTML where another kind of file was named is a login or error page. */
function refuseHtml(path: string, contentType: string, first: Uint8Array): void {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(path)?.[1]?.toLowerCase();
  if (extension === undefined || /^x?html?$/.test(extension)) return;
  const start = new TextDecoder().decode(first.subarray(0, 512)).trimStart().toLowerCase();
  const looksHtml = start.startsWith("<!doctype html") || start.startsWith("<html");
  if (!looksHtml || (!/html/i.test(contentType) && contentType !== "")) return;
  throw new ToolError("upstream", `the site sent an HTML page where a .${extension} file was wanted`, {
    hint: "it may be a login page: give credentials in headers, or read it with web_read",
  });
}

export function createDownloads(
  parts: DownloadParts,
): (query: DownloadQuery, context: ToolContext) => Promise<{ data: Downloaded; fileChanges: readonly FileChange[] }> {
  const { net, clock } = parts;

  async function resolveTarget(workspace: Workspace, path: string, scope: Scope): Promise<ResolvedPath> {
    return workspace.resolve(path, "write", scope);
  }

  /** @returns the finished answer when the wanted bytes are there already */
  async function checkExisting(
    target: ResolvedPath,
    query: DownloadQuery,
  ): Promise<{ sha256: string; bytes: number } | undefined> {
    if (target.kind === "missing") return undefined;
    if (target.kind !== "file")
      throw new ToolError("conflict", `${target.shown} is there and is no file`, { hint: "name another path" });
    if (query.sha256 !== undefined) {
      const there = await hashFile(target.path);
      if (there.sha256 === query.sha256) return there;
    }
    if (query.overwrite) return undefined;
    throw new ToolError("conflict", `${target.shown} is already there`, {
      hint: "set overwrite, or name another path",
      retryable: false,
    });
  }

  async function ask(
    query: DownloadQuery,
    resume: { bytes: number; validator: string } | undefined,
    context: ToolContext,
  ): Promise<NetResponse> {
    const response = await net.request(
      {
        url: query.url,
        headers: query.headers,
        timeoutMs: query.timeoutMs,
        encoding: "identity",
        maxBytes: Math.max(1, query.maxBytes - (resume?.bytes ?? 0)),
        ...(resume === undefined ? {} : { range: { start: resume.bytes, validator: resume.validator } }),
      },
      context,
    );
    const complete = response.notes.some(({ code }) => code === "range_complete");
    if (response.status === 200 || response.status === 206 || complete) return response;
    if (resume !== undefined && response.status === 416) {
      await response.discard();
      return ask(query, undefined, context);
    }
    throw httpError(await readFailed(response), clock.now());
  }

  /** Takes the body into the part; what a cut leaves can be gone on with when the site gave a validator. */
  async function receive(
    response: NetResponse,
    part: Part,
    start: number,
    hash: Hash,
    query: DownloadQuery,
    shown: string,
    context: ToolContext,
  ): Promise<number> {
    const validator = isEncoded(response) ? undefined : validatorOf(response);
    const contentType = response.headers.get("content-type") ?? "";
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    const total = Number.isFinite(length) && !isEncoded(response) ? start + length : undefined;
    const file = await part.open(start === 0 ? "start" : "end");
    let bytes = start;
    try {
      if (validator !== undefined)
        await part.keep({ url: query.url, validator, finalUrl: response.url, contentType, at: clock.now() });
      for await (const chunk of response.body) {
        if (bytes === 0) refuseHtml(shown, contentType, chunk);
        await file.appendFile(chunk);
        hash.update(chunk);
        bytes += chunk.length;
        context.progress({ message: `${bytes} bytes`, progress: bytes, ...(total === undefined ? {} : { total }) });
      }
    } catch (error) {
      const goesOn =
        error instanceof ToolError &&
        ["timeout", "cancelled", "upstream"].includes(error.code) &&
        bytes > 0 &&
        validator !== undefined &&
        !/HTML page/.test(error.message);
      await file.close();
      if (!goesOn) await part.discard();
      throw goesOn && error instanceof ToolError
        ? new ToolError(error.code, `${error.message}; ${bytes} bytes are kept`, {
            hint: "the same call goes on from there",
            retryable: true,
            details: { ...error.details, keptBytes: bytes },
            cause: error,
          })
        : error;
    }
    await file.sync();
    await file.close();
    return bytes;
  }

  async function put(
    workspace: Workspace,
    part: Part,
    target: ResolvedPath,
    query: DownloadQuery,
    scope: Scope,
  ): Promise<readonly FileChange[]> {
    const staged = await workspace.stage(scope);
    try {
      for await (const chunk of part.read()) await staged.append(chunk);
      const committed = await workspace.edit(
        [target.path],
        () => ({
          changes: [{ kind: "adopt", path: target.path, staged, overwrite: query.overwrite }],
          result: undefined,
        }),
        scope,
      );
      return committed.changes;
    } finally {
      await staged.discard();
    }
  }

  return async (query, context) => {
    const { url } = net.check(query.url);
    url.hash = "";
    const asked = { ...query, url: url.href };
    const workspace = await parts.workspace(context.directory);
    const scope: Scope = {
      directory: context.directory,
      sessionId: context.sessionId,
      signal: context.signal,
      ask: context.ask,
    };
    const given = await resolveTarget(workspace, query.path, scope);
    const intoFolder = given.kind === "directory" || /[\\/]$/.test(query.path);
    if (!intoFolder) {
      const there = await checkExisting(given, query);
      if (there !== undefined)
        return {
          data: { url: url.href, finalUrl: url.href, path: given.shown, ...there, contentType: "", alreadyThere: true },
          fileChanges: [],
        };
    }
    const part = await partOf(context.directory, url.href, given.path, clock);
    const resume = await part.resumable();
    const response = await ask(
      asked,
      resume === undefined ? undefined : { bytes: resume.bytes, validator: resume.note.validator },
      context,
    );
    let target = given;
    try {
      if (intoFolder) {
        target = await resolveTarget(
          workspace,
          join(given.path, downloadName(response.headers.get("content-disposition"), response.url)),
          scope,
        );
        const there = await checkExisting(target, query);
        if (there !== undefined) {
          await response.discard();
          return {
            data: {
              url: url.href,
              finalUrl: response.url,
              path: target.shown,
              ...there,
              contentType: response.headers.get("content-type") ?? "",
              alreadyThere: true,
            },
            fileChanges: [],
          };
        }
      }
    } catch (error) {
      await response.discard();
      throw error;
    }
    const start = response.status === 200 ? 0 : (resume?.bytes ?? 0);
    const hash = createHash("sha256");
    if (start > 0) for await (const chunk of part.read()) hash.update(chunk);
    let bytes = start;
    if (response.status === 416) await response.discard();
    else bytes = await receive(response, part, start, hash, asked, target.shown, context);
    const sha256 = hash.digest("hex");
    if (query.sha256 !== undefined && sha256 !== query.sha256) {
      await part.discard();
      throw new ToolError(
        "upstream",
        `the bytes have the SHA-256 ${sha256}, not the one that was asked for; nothing was written`,
        {
          hint: "check the hash and the URL",
          details: { sha256, expected: query.sha256, bytes },
        },
      );
    }
    const etag = response.headers.get("etag");
    const data: Downloaded = {
      url: url.href,
      finalUrl: response.url,
      path: target.shown,
      bytes,
      contentType: response.headers.get("content-type") ?? resume?.note.contentType ?? "",
      sha256,
      ...(etag === undefined ? {} : { etag }),
      ...(start === 0 ? {} : { resumedFrom: start }),
      alreadyThere: false,
    };
    if (target.kind === "file" && (await hashFile(target.path)).sha256 === sha256) {
      await part.discard();
      return { data: { ...data, alreadyThere: true }, fileChanges: [] };
    }
    const fileChanges = await put(workspace, part, target, query, scope);
    await part.discard();
    return { data, fileChanges };
  };
}
