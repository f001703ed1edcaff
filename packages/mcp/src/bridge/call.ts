import { type Attachment, type ToolContext, ToolError } from "@toolhaft/core";
import { structuredKey } from "../result.ts";
import type { Connection, Link } from "./link.ts";
import { failureFrom, type RemoteAnswer, readAnswer } from "./result.ts";
import { plainText, type RemoteTool } from "./schema.ts";

/** The SDK's own clock is not used: ours starts again with each news of the call. */
const never = 2 ** 31 - 1;
const resultScheme = "toolhaft://result/";

export interface RemoteCall {
  link: Link;
  tool: RemoteTool;
  readOnly: boolean;
  timeoutMs: number;
  maxBytes: number;
  /** Looks before anything is sent; throws to stop. */
  check(connection: Connection): Promise<void>;
}

export interface RemoteResult extends RemoteAnswer {
  server: string;
  toolhaft: boolean;
}

/**
 * One call over the link. When the connection breaks in the middle, nobody knows whether the work was done: only a tool
 * that just reads is asked again, once.
 *
 * @throws ToolError what the server said, or what became of the connection.
 */
export async function callRemote(call: RemoteCall, input: unknown, context: ToolContext): Promise<RemoteResult> {
  const connection = await call.link.connect(context.signal);
  try {
    return await callOnce(call, connection, input, context);
  } catch (error) {
    const broke = error instanceof ToolError && error.code === "unavailable" && error.retryable;
    if (!broke || !call.readOnly || context.signal.aborted) throw error;
    return callOnce(call, await call.link.connect(context.signal), input, context);
  }
}

async function callOnce(
  { link, tool, timeoutMs, maxBytes, check }: RemoteCall,
  connection: Connection,
  input: unknown,
  context: ToolContext,
): Promise<RemoteResult> {
  const server = link.nameOf(connection);
  await check(connection);
  const patience = patienceOf(timeoutMs, server);
  const progress = connection.progress.begin((update) => {
    patience.news();
    context.progress(update);
  });
  connection.running.push(context);
  const signal = AbortSignal.any([context.signal, patience.signal]);
  const _meta = { progressToken: progress.token, ...(connection.toolhaft && { [structuredKey]: true }) };
  try {
    const answer = readAnswer(
      await Promise.race([
        connection.broken,
        connection.client.callTool(
          { name: tool.name, arguments: input as Record<string, unknown>, _meta },
          // The server's own promise of its output is not held against it: what came is data either way.
          { signal, timeout: never, toolDefinition: { ...tool, outputSchema: undefined } as never },
        ),
      ]),
    );
    const trusted = connection.toolhaft && link.local;
    if (answer.isError) throw failureFrom(server, answer, trusted);
    const attachments = connection.toolhaft
      ? await Promise.all(answer.attachments.map((each) => withResult(each, connection, maxBytes)))
      : answer.attachments;
    return { ...answer, attachments, server, toolhaft: trusted };
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw faultOf(error, patience.signal, server);
  } finally {
    patience.end();
    connection.running.splice(connection.running.indexOf(context), 1);
    await progress.end();
  }
}

/** Runs out after so long without news of the call. */
function patienceOf(timeoutMs: number, server: string) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new ToolError("timeout", `the MCP server ${server} said nothing for ${Math.round(timeoutMs / 1_000)} s`, {
        hint: "what it has done is unknown: look before you call again",
      }),
    );
  }, timeoutMs);
  return { signal: controller.signal, news: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

function faultOf(error: unknown, patience: AbortSignal, server: string): unknown {
  if (patience.aborted) return patience.reason;
  if (error instanceof ToolError) return error;
  if (!(error instanceof Error)) return error;
  const message = plainText(error.message, 2_000);
  if (error.name === "ProtocolError")
    return new ToolError("upstream", `the MCP server ${server} refused the call: ${message}`, { cause: error });
  if ("code" in error && error.code === "INVALID_RESULT")
    return new ToolError("upstream", `the MCP server ${server} answered in a form that the protocol does not have`, {
      cause: error,
    });
  return new ToolError("unavailable", `the call to the MCP server ${server} did not come back: ${message}`, {
    retryable: true,
    hint: "what it has done is unknown: look before you call again",
    cause: error,
  });
}

/** What another Toolhaft kept for later belongs to its answer; links to anywhere else stay links. */
async function withResult(attachment: Attachment, { client }: Connection, maxBytes: number): Promise<Attachment> {
  const { source, bytes } = attachment;
  if (source.kind !== "uri" || !source.uri.startsWith(resultScheme) || bytes > maxBytes) return attachment;
  const parts: Buffer[] = [];
  let text = false;
  for (let offset = 0; offset < bytes; ) {
    const { contents } = await client.readResource({ uri: `${source.uri}?offset=${offset}` });
    const [part] = contents;
    if (part === undefined) break;
    text = "text" in part;
    const piece = "text" in part ? Buffer.from(part.text) : Buffer.from(part.blob, "base64");
    if (piece.length === 0) break;
    parts.push(piece);
    offset += piece.length;
  }
  const whole = Buffer.concat(parts);
  return {
    ...attachment,
    source: text ? { kind: "text", text: whole.toString("utf8") } : { kind: "bytes", bytes: new Uint8Array(whole) },
  };
}
