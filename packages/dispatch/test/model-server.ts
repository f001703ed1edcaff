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

/** A model on loopback that says one sentence, in the two ways that the agent programs ask. */
export async function modelServer(answer: string): Promise<ModelServer> {
  const asked: string[] = [];
  let silent = false;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url ?? "";
    if (request.method !== "POST" || !/\/(responses|chat\/completions)$/.test(path)) {
      response.writeHead(404).end();
      return;
    }
    asked.push(body);
    if (silent) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (path.endsWith("/responses")) sayAsResponse(response, answer);
    else sayAsCompletion(response, answer);
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

function sayAsResponse(response: ServerResponse, text: string): void {
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

function sayAsCompletion(response: ServerResponse, content: string): void {
  const chunk = (choice: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "scripted",
        choices: [{ index: 0, ...choice }],
        ...more,
      })}\n\n`,
    );
  chunk({ delta: { role: "assistant", content }, finish_reason: null });
  chunk({ delta: {}, finish_reason: "stop" }, { usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 } });
  response.end("data: [DONE]\n\n");
}
