import type { Readable, Writable } from "node:stream";
import type { MessageConnection } from "vscode-languageserver-protocol/node";
import { createStdoutFilter } from "./stdout-filter.ts";

/** What a server wants from us. */
export interface Incoming {
  request(method: string, params: unknown): Promise<unknown>;
  notification(method: string, params: unknown): void;
  /** The stream is broken or closed; nothing more will come. */
  lost(reason: string): void;
}

/** The error answer of a server. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface Connection {
  /** Rejects with {@link ResponseError}. `onCancel` gives the function that sends `$/cancelRequest`. */
  request(method: string, params: unknown, onCancel: (cancel: () => void) => void): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** What the server printed beside the protocol. */
  noise(): string;
  dispose(): void;
}

/** LSP 3.17 error codes that this client reacts to. */
export const errorCode = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  contentModified: -32801,
  serverCancelled: -32802,
  requestCancelled: -32800,
} as const;

/** MessageWriteError, MessageReadError, PendingResponseRejected and ConnectionInactive of `vscode-jsonrpc`. */
const brokenPipe: ReadonlySet<number> = new Set([-32099, -32098, -32097, -32096]);

/** Opens the wire over a server's pipes; the protocol library is loaded here, with the first server. */
export async function openConnection(stdout: Readable, stdin: Writable, incoming: Incoming): Promise<Connection> {
  const protocol = await import("vscode-languageserver-protocol/node");
  const filter = createStdoutFilter();
  const silent = { error() {}, warn() {}, info() {}, log() {} };
  const connection: MessageConnection = protocol.createMessageConnection(
    new protocol.StreamMessageReader(stdout.pipe(filter)),
    new protocol.StreamMessageWriter(stdin),
    silent,
  );
  let lost = false;
  const lose = (reason: string) => {
    if (lost) return;
    lost = true;
    incoming.lost(reason);
  };
  filter.on("error", (error) => lose(error.message));
  connection.onError(([error]) => lose(error.message));
  connection.onClose(() => lose("the server closed its output"));
  connection.onRequest(async (method: string, params: unknown) => {
    try {
      const result = await incoming.request(method, params);
      return result === undefined ? null : result;
    } catch (error) {
      if (error instanceof ResponseError) return new protocol.ResponseError(error.code, error.message);
      const message = error instanceof Error ? error.message : String(error);
      return new protocol.ResponseError(protocol.ErrorCodes.InternalError, message);
    }
  });
  connection.onNotification((method: string, params: unknown) => incoming.notification(method, params));
  connection.onUnhandledNotification((message) => {
    incoming.notification(message.method, message.params);
  });
  connection.onUnhandledProgress((params) => incoming.notification("$/progress", params));
  connection.listen();

  return {
    async request(method, params, onCancel) {
      const source = new protocol.CancellationTokenSource();
      onCancel(() => source.cancel());
      try {
        return params === undefined
          ? await connection.sendRequest(method, source.token)
          : await connection.sendRequest(method, protocol.ParameterStructures.auto, params, source.token);
      } catch (error) {
        // these are the library's own: the pipe broke, the server has said nothing
        if (error instanceof protocol.ResponseError && brokenPipe.has(error.code)) throw new Error(error.message);
        if (error instanceof protocol.ResponseError) throw new ResponseError(error.code, error.message, error.data);
        throw error;
      } finally {
        source.dispose();
      }
    },
    notify(method, params) {
      if (lost) return;
      // rejects only when the pipe is gone, which `lost` tells
      const sent =
        params === undefined
          ? connection.sendNotification(method)
          : connection.sendNotification(method, protocol.ParameterStructures.auto, params);
      sent.catch((error: unknown) => lose(error instanceof Error ? error.message : String(error)));
    },
    noise: () => filter.noise,
    dispose() {
      connection.dispose();
    },
  };
}
