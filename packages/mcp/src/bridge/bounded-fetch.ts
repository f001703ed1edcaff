import type { FetchLike } from "@modelcontextprotocol/client";
import { ToolError } from "@toolhaft/core";

const newline = 10;

/** `fetch` whose answers carry no message over so many bytes; an event stream is counted event by event. */
export function boundedFetch(maxBytes: number, onTooLarge: (error: ToolError) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const events = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
    let bytes = 0;
    let last = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (events) {
          // A blank line ends an event: what follows the last one is all that is still open.
          for (let index = 0; index < chunk.length; index++) {
            const byte = chunk[index] ?? 0;
            if (byte === newline && last === newline) bytes = chunk.length - index - 1;
            if (byte !== 13) last = byte;
          }
        }
        if (bytes > maxBytes) {
          const error = new ToolError("too_large", `the server sent a message over ${maxBytes} bytes`);
          onTooLarge(error);
          controller.error(error);
          return;
        }
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counted), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}
