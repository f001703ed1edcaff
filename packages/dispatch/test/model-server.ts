import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ModelServer {
  url: string;
  /** Bodies of the calls that reached a model, in order. */
  asked: string[];
  /** From here on no call is answered. */
  fallSilent(): void;
}

/** A model on loopback that says one sentence, over the API that the agent program speaks. */
export async function modelServer(answer: string): Promise<ModelServer> {
  const asked: string[] = [];
  let silent = false;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url ?? "";
    if (request.method !== "POST" || !path.endsWith("/responses")) {
      response.writeHead(404).end();
      return;
    }
    asked.push(body);
    if (silent) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    say(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    fallSilent() {
      silent = true;
    },
  };
}

function say(response: ServerResponse, text: string): void {
  const send = (event: { type: string }) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const item = { type: "message", role: "assistant", id: "msg_1", content: [{ type: "output_text", text }] };
  const usage = { input_tokens: 11, input_tokens_details: null, output_tokens: 5, output_tokens_details: null };
  send({ type: "response.created", response: { id: "resp_1" } } as { type: string });
  send({ type: "response.output_item.done", item } as { type: string });
  send({ type: "response.completed", response: { id: "resp_1", usage: { ...usage, total_tokens: 16 } } } as {
    type: string;
  });
  response.end();
}
