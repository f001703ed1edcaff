import { ToolError } from "@toolhaft/core";
import { type Connection, errorCode, ResponseError } from "./connection.ts";
import type { Encoding } from "./definition.ts";
import { convertPositions } from "./encoding.ts";
import { type Loss, ServerLost } from "./loss.ts";
import type { SourceText } from "./positions.ts";
import { bounded, pause, TimedOut } from "./waiting.ts";
import { documentUriOf } from "./wire-shapes.ts";

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Ask again when the server says that its state changed under the request. Reads only. @default true */
  retry?: boolean;
  /** The document whose positions the message holds, when no `uri` in it says so. */
  uri?: string | undefined;
}

/** One server as its requests see it. */
export interface Wire {
  server: string;
  connection: Connection;
  readonly encoding: Encoding;
  /** Settles when the server is gone. */
  lost: Promise<Loss>;
  readonly loss: Loss | undefined;
  textOf(uri: string): Promise<SourceText | undefined>;
  /** The bound of requests that name none. */
  defaultMs: number;
}

export interface Requests {
  /** @throws ResponseError, ServerLost, TimedOut, ToolError `cancelled` */
  request<R>(method: string, params: unknown, options?: RequestOptions): Promise<R>;
  /** The same, once. */
  send<R>(method: string, params: unknown, options: RequestOptions): Promise<R>;
}

const serverGone = Symbol("gone");
const gone: Loss = { reason: "ended", code: null, signal: null, stderr: "" };
const maxAttempts = 4;

/** Requests in the server's encoding, bounded, cancelled on the wire, asked again where the protocol says so. */
export function createRequests(wire: Wire): Requests {
  const { connection, lost } = wire;

  const send = async <R>(method: string, params: unknown, options: RequestOptions): Promise<R> => {
    const { encoding } = wire;
    const uri = options.uri ?? documentUriOf(params);
    const encoded =
      encoding === "utf-16" ? params : await convertPositions(params, uri, encoding, "encode", wire.textOf);
    if (wire.loss) throw new ServerLost(wire.server, wire.loss);
    let cancel = () => {};
    const answer = connection.request(method, encoded, (cancelRequest) => {
      cancel = cancelRequest;
    });
    const raced = Promise.race([answer, lost.then(() => serverGone)]);
    answer.catch(() => {}); // a late answer to a caller that has left
    try {
      const result = await bounded(raced, options.timeoutMs ?? wire.defaultMs, options.signal);
      if (result === serverGone) throw new ServerLost(wire.server, wire.loss ?? gone);
      // of `initialize` on it is the server that chooses
      const { encoding: now } = wire;
      return (now === "utf-16" ? result : await convertPositions(result, uri, now, "decode", wire.textOf)) as R;
    } catch (error) {
      if (error instanceof TimedOut || (error instanceof ToolError && error.code === "cancelled")) cancel();
      else if (!(error instanceof ResponseError) && !(error instanceof ServerLost)) {
        // the stream broke under the request: the exit that follows says why
        const reason = await Promise.race([lost, pause(2_000).then(() => undefined)]);
        if (reason) throw new ServerLost(wire.server, reason);
      }
      throw error;
    }
  };

  return {
    send,
    async request<R>(method: string, params: unknown, options: RequestOptions = {}): Promise<R> {
      for (let attempt = 1; ; attempt++) {
        try {
          return await send<R>(method, params, options);
        } catch (error) {
          const again =
            error instanceof ResponseError &&
            (error.code === errorCode.contentModified || error.code === errorCode.serverCancelled);
          if (!again || attempt >= maxAttempts || options.retry === false) throw error;
          await bounded(pause(50 * 2 ** attempt), 60_000, options.signal);
        }
      }
    },
  };
}
