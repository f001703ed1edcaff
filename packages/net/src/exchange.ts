import { ToolError } from "@toolhaft/core";
import type { Client, Dispatcher } from "undici";
import type { Deadline } from "./deadline.ts";
import { responseHeaders } from "./headers.ts";

/** Bytes that may wait in memory before the socket is paused. */
const highWater = 256 * 1024;

/** Interim answers that are read over before the server is called broken. */
const maxInterim = 8;

/** The head of an answer, and its body as it arrives. */
export interface Exchange {
  status: number;
  statusText: string;
  headers: ReadonlyMap<string, string>;
  /** The next piece of the body; undefined at its end. Rejects when the body is cut. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends the request and its socket. */
  abort(reason: Error): void;
  /** Told when the answer has ended or its socket was closed, and once more when it is aborted after its end. */
  onDone(listener: (clean: boolean) => void): void;
}

export interface Outgoing {
  path: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string | undefined;
}

/** The connection ended before an answer began: the one failure that a GET may repeat. */
export class ResetBeforeHeaders extends Error {}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "");

const wordsOf: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: "the response's headers are longer than 16 KiB",
  HPE_INVALID_CONTENT_LENGTH: "the response has a wrong Content-Length",
  HPE_UNEXPECTED_CONTENT_LENGTH: "the response has two lengths",
};

/** What went wrong on the wire, in words. */
function wireError(error: Error, where: string): Error {
  if (error instanceof ToolError) return error;
  const code = codeOf(error);
  const words = wordsOf[code] ?? (code.startsWith("HPE_") ? "the response is not HTTP" : "the connection was lost");
  return new ToolError("upstream", `${where}: ${words}${code === "" ? "" : ` (${code})`}`, {
    details: { wire: code },
    cause: error,
  });
}

const lostCodes: ReadonlySet<string> = new Set([
  "UND_ERR_SOCKET",
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_INFO",
  "UND_ERR_DESTROYED",
]);

/** Sends one request over one connection and waits for the head of the answer. */
export function exchange(client: Client, request: Outgoing, deadline: Deadline, where: string): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const queue: Uint8Array[] = [];
    let queued = 0;
    let ended = false;
    let failure: Error | undefined;
    let started = false;
    let interim = 0;
    let doneListener: ((clean: boolean) => void) | undefined;
    let finished: { clean: boolean } | undefined;
    let waiting: { resolve(chunk: Uint8Array | undefined): void; reject(error: Error): void } | undefined;
    let controller: Dispatcher.DispatchController | undefined;

    function abort(reason: Error): void {
      failure ??= reason;
      if (controller === undefined) reject(reason);
      else if (!ended && !controller.aborted) controller.abort(reason);
      else if (finished === undefined) finish(false);
      else doneListener?.(false);
    }
    function finish(clean: boolean): void {
      if (finished !== undefined) return;
      finished = { clean };
      leave();
      doneListener?.(clean);
    }

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        if (deadline.reason !== undefined) given.abort(deadline.reason);
      },
      onResponseStart(given, status, headers, statusText) {
        if (status < 200) {
          interim += 1;
          if (interim > maxInterim)
            given.abort(new ToolError("upstream", `${where}: more than ${maxInterim} interim answers`));
          return;
        }
        started = true;
        resolve({ status, statusText: statusText ?? "", headers: responseHeaders(headers), read, abort, onDone });
      },
      onResponseData(given, chunk) {
        if (waiting !== undefined) {
          waiting.resolve(chunk);
          waiting = undefined;
          return;
        }
        queue.push(chunk);
        queued += chunk.length;
        if (queued > highWater) given.pause();
      },
      onResponseEnd() {
        ended = true;
        waiting?.resolve(undefined);
        waiting = undefined;
        finish(true);
      },
      onResponseError(_given, error) {
        const lost = lostCodes.has(codeOf(error));
        failure ??=
          !started && lost
            ? new ResetBeforeHeaders(`${where} closed the connection before it answered`)
            : wireError(error, where);
        reject(failure);
        waiting?.reject(failure);
        waiting = undefined;
        finish(false);
      },
    };

    function read(): Promise<Uint8Array | undefined> {
      const chunk = queue.shift();
      if (chunk !== undefined) {
        queued -= chunk.length;
        if (controller?.paused === true && queued <= highWater / 2) controller.resume();
        return Promise.resolve(chunk);
      }
      if (failure !== undefined) return Promise.reject(failure);
      if (ended) return Promise.resolve(undefined);
      return new Promise((onChunk, onError) => {
        waiting = { resolve: onChunk, reject: onError };
      });
    }
    function onDone(listener: (clean: boolean) => void): void {
      doneListener = listener;
      if (finished !== undefined) listener(finished.clean);
    }

    const leave = deadline.onEnd(abort);
    const body = typeof request.body === "string" ? Buffer.from(request.body) : request.body;
    client.dispatch(
      {
        path: request.path,
        method: request.method,
        headers: { ...request.headers },
        body: body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
  });
}
