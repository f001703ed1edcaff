// A scripted server for faults that real ones do not show on demand. argv: scenario module, log file.
import { appendFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [scenarioFile, logFile] = process.argv.slice(2);
const log = (direction, message) =>
  logFile && appendFileSync(logFile, `${JSON.stringify({ direction, ...message })}\n`);
const handlers = new Map();
const pending = new Map();
let nextId = 0;

export const server = {
  capabilities: { textDocumentSync: { openClose: true, change: 2, save: true }, hoverProvider: true },
  encoding: undefined,
  documents: new Map(),
  on(method, handler) {
    handlers.set(method, handler);
  },
  raw(bytes) {
    process.stdout.write(bytes);
  },
  frame(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
  },
  send(message) {
    log("out", message);
    this.raw(this.frame(message));
  },
  notify(method, params) {
    this.send({ method, params });
  },
  /** Sends a request to the client; `id` may be chosen to collide. */
  ask(method, params, id = `s${nextId++}`) {
    this.send({ id, method, params });
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  },
  fail(code, message, data) {
    throw Object.assign(new Error(message), { code, data });
  },
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  /** Resolves never: the request stays unanswered. */
  silence: () => new Promise(() => {}),
};

async function handle(message) {
  log("in", message);
  if (message.method === undefined) {
    const waiter = pending.get(message.id);
    pending.delete(message.id);
    if (message.error) waiter?.reject(Object.assign(new Error(message.error.message), message.error));
    else waiter?.resolve(message.result);
    return;
  }
  const { method, params, id } = message;
  const document = params?.textDocument;
  if (method === "textDocument/didOpen") server.documents.set(document.uri, { ...document });
  if (method === "textDocument/didClose") server.documents.delete(document.uri);
  if (method === "textDocument/didChange") {
    const known = server.documents.get(document.uri);
    known.version = document.version;
    for (const change of params.contentChanges) known.text = apply(known.text, change);
  }
  const handler = handlers.get(method);
  if (id === undefined) {
    await handler?.(params);
    if (method === "exit") process.exit(0);
    return;
  }
  try {
    const result = handler
      ? await handler(params, id)
      : method === "initialize"
        ? {
            capabilities: { ...server.capabilities, ...(server.encoding && { positionEncoding: server.encoding }) },
            serverInfo: { name: "fake", version: "1.0" },
          }
        : method === "shutdown"
          ? null
          : server.fail(-32601, `no ${method}`);
    if (result !== undefined) server.send({ id, result });
  } catch (error) {
    server.send({
      id,
      error: { code: error.code ?? -32603, message: error.message, ...(error.data && { data: error.data }) },
    });
  }
}

function apply(text, change) {
  if (!change.range) return change.text;
  const lines = text.split("\n");
  const at = ({ line, character }) => lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  return text.slice(0, at(change.range.start)) + change.text + text.slice(at(change.range.end));
}

if (scenarioFile) await (await import(pathToFileURL(scenarioFile).href)).default(server);

let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const body = buffer.subarray(end + 4, end + 4 + length).toString();
    buffer = buffer.subarray(end + 4 + length);
    handle(JSON.parse(body));
  }
});
process.stdin.on("end", () => {
  if (!server.stubborn) process.exit(0);
});
