import type { Client } from "@modelcontextprotocol/client";
import {
  type AnyTool,
  type Family,
  foreignTool,
  nearest,
  type Profile,
  profileReport,
  ToolError,
  toolOutput,
} from "@toolhaft/core";
import manifest from "../package.json" with { type: "json" };
import { callRemote } from "./bridge/call.ts";
import { type Connection, createLink, type Link, type McpSource } from "./bridge/link.ts";
import { fitNames, plainName } from "./bridge/names.ts";
import { pinOf } from "./bridge/pins.ts";
import { fileChangesOf, marked, type RemoteAnswer } from "./bridge/result.ts";
import { checkableSchema, isObject, issuesOf, plainText, type RemoteTool, visibleSchema } from "./bridge/schema.ts";

export interface BridgeOptions {
  /** What the server is called in texts and before its tools' names. @default the name it gives itself */
  name?: string;
  /** Before every tool's name. @default `<name>_` */
  prefix?: string;
  /** Only these of its tools: its own names or ours, `*` for any run of characters. */
  pick?: readonly string[];
  /** Not these of its tools. */
  omit?: readonly string[];
  /** Hashes by the server's own tool names, as {@link McpFamily.pins} gives them: a tool that has changed is denied. */
  pins?: Readonly<Record<string, string>>;
  /** How long a call may go without news, in milliseconds; a connection has a minute, or this if it is longer. @default 60_000 */
  timeoutMs?: number;
  /** The longest message taken from the server. @default 10_485_760 */
  maxBytes?: number;
  /** Passes the server's questions to the person behind the call. @default false: they are refused */
  elicit?: boolean;
  /** Notes of the server and of its wire. @default dropped */
  onError?(error: Error): void;
}

/** The tools of an MCP server as a family. */
export interface McpFamily extends Family {
  /** The server's own name of each of our tools. */
  readonly origins: Readonly<Record<string, string>>;
  /** A hash of name, description and schema by the server's own tool names, to be kept and given as `pins`. */
  readonly pins: Readonly<Record<string, string>>;
  /** Tools that a provider's schema rules cannot say. */
  report(profile: Profile): { tool: string; problem: string }[];
}

const maxTools = 2_000;
const profile = (tools: readonly AnyTool[], name: Profile) => profileReport(tools, name);

/**
 * Connects to an MCP server and makes its tools a family. Everything the server says is foreign text: it is shown with
 * its source and followed nowhere.
 *
 * @throws ToolError `unavailable` when the server cannot be reached, `upstream` when what it lists is no list of tools.
 * @throws TypeError for a pattern that matches nothing.
 */
export async function fromMcp(source: McpSource, options: BridgeOptions = {}): Promise<McpFamily> {
  const { timeoutMs = 60_000, maxBytes = 10 * 1_024 * 1_024, pins = {} } = options;
  const link = createLink(source, {
    version: manifest.version,
    maxBytes,
    connectMs: Math.max(60_000, timeoutMs),
    elicit: options.elicit ?? false,
    serverName: options.name,
    onError: options.onError ?? (() => undefined),
  });
  try {
    const connection = await link.connect();
    const server = link.nameOf(connection);
    const prefix = options.prefix ?? `${plainName(server)}_`;
    const listed = await listTools(connection.client, server);
    const names = fitNames(
      prefix,
      listed.map(({ name }) => name),
    );
    const chosen = choose(listed, names, options);
    const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
    const validator = new AjvJsonSchemaValidator();
    const current = new Map(listed.map((tool) => [tool.name, pinOf(tool)]));
    const seen = new WeakSet<Connection>([connection]);

    /** A pinned tool is compared with what the server lists now: after a new connection or a changed list it is read again. */
    const check = async (tool: RemoteTool, on: Connection) => {
      const pin = Object.hasOwn(pins, tool.name) ? pins[tool.name] : undefined;
      if (pin === undefined) return;
      if (on.stale || !seen.has(on)) {
        on.stale = false;
        seen.add(on);
        current.clear();
        for (const now of await listTools(on.client, server)) current.set(now.name, pinOf(now));
      }
      if (current.get(tool.name) === pin) return;
      throw new ToolError(
        "denied",
        `the tool ${tool.name} of the MCP server ${server} is not the one that was pinned`,
        {
          hint: "do not repeat this call unchanged; a person must look at the tool and pin it again (toolhaft doctor --pin)",
          details: { by: "policy" },
        },
      );
    };

    const tools = chosen.map((tool) =>
      bridged(tool, names.get(tool.name) ?? plainName(tool.name), server, link, {
        check: (on) => check(tool, on),
        timeoutMs,
        maxBytes,
        // Another Toolhaft checks and repairs its input itself, in the same words.
        validate: connection.toolhaft ? () => [] : validatorOf(validator, tool),
      }),
    );
    const close = () => link.close();
    return {
      name: plainName(server),
      tools,
      origins: Object.fromEntries(chosen.map(({ name }) => [names.get(name) ?? name, name])),
      pins: Object.fromEntries(chosen.map((tool) => [tool.name, pinOf(tool)])),
      report: (name) => profile(tools, name),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function listTools(client: Client, server: string): Promise<RemoteTool[]> {
  const found = new Map<string, RemoteTool>();
  try {
    // The client reads page after page, and stops a server whose pages do not end.
    const { tools } = await client.listTools(undefined, { cacheMode: "bypass" });
    for (const tool of tools.slice(0, maxTools)) if (!found.has(tool.name)) found.set(tool.name, tool);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const reason = error instanceof Error ? plainText(error.message, 500) : "unknown reason";
    throw new ToolError("upstream", `the MCP server ${server} did not list its tools: ${reason}`, { cause: error });
  }
  return [...found.values()];
}

function choose(
  listed: readonly RemoteTool[],
  names: ReadonlyMap<string, string>,
  { pick, omit }: BridgeOptions,
): RemoteTool[] {
  const known = listed.flatMap(({ name }) => [name, names.get(name) ?? name]);
  const matcher = (what: string, patterns: readonly string[]) => {
    const tests = patterns.map((pattern) => {
      const test = new RegExp(
        `^${pattern
          .split("*")
          .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
          .join(".*")}$`,
        "s",
      );
      if (known.some((name) => test.test(name))) return test;
      const near = nearest(pattern, known);
      throw new TypeError(
        `fromMcp: ${what} "${pattern}" matches no tool of this server${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
      );
    });
    return ({ name }: RemoteTool) => tests.some((test) => test.test(name) || test.test(names.get(name) ?? name));
  };
  const picked = pick === undefined ? () => true : matcher("pick", pick);
  const omitted = omit === undefined ? () => false : matcher("omit", omit);
  return listed.filter((tool) => picked(tool) && !omitted(tool));
}

interface Calling {
  check(connection: Connection): Promise<void>;
  timeoutMs: number;
  maxBytes: number;
  validate(input: unknown): { path: (string | number)[]; message: string }[];
}

function bridged(tool: RemoteTool, name: string, server: string, link: Link, calling: Calling): AnyTool {
  const { title, description = "", annotations: hints = {} } = tool;
  const readOnlyHint = hints.readOnlyHint ?? false;
  const shownTitle = plainText(hints.title ?? title ?? tool.name, 64)
    .replace(/\s+/g, " ")
    .trim();
  const source = ` (from ${server})`;
  // Data need not hold the text that a model reads; it is kept beside it until it is rendered.
  const texts = new WeakMap<object, string>();
  return foreignTool({
    name,
    title: shownTitle === "" ? name : shownTitle,
    description: plainText(description, 1_024 - source.length).trimEnd() + source,
    annotations: {
      readOnlyHint,
      destructiveHint: hints.destructiveHint ?? !readOnlyHint,
      idempotentHint: hints.idempotentHint ?? false,
      openWorldHint: hints.openWorldHint ?? true,
    },
    // Naming a server is the grant; a rule of the user can still ask or deny.
    defaultRules: [{ effect: "allow", permission: "mcp.call" }],
    inputSchema: visibleSchema(tool.inputSchema),
    validate: calling.validate,
    effects: () => [{ permission: "mcp.call", resource: `${server}:${tool.name}` }],
    async execute(input, context) {
      const answer = await callRemote({ link, tool, readOnly: readOnlyHint, ...calling }, input, context);
      const text = answer.toolhaft ? answer.text : marked(answer.server, answer.text);
      const data = dataOf(answer);
      texts.set(data, text);
      const fileChanges = answer.toolhaft ? fileChangesOf(answer) : undefined;
      if (fileChanges === undefined && answer.attachments.length === 0) return data;
      return toolOutput(data, {
        ...(fileChanges !== undefined && { fileChanges }),
        ...(answer.attachments.length > 0 && { attachments: answer.attachments }),
      });
    },
    render: (output) => (isObject(output) ? texts.get(output) : undefined) ?? JSON.stringify(output),
  });
}

function dataOf({ structured, text }: RemoteAnswer): Record<string, unknown> {
  return structured ?? { text };
}

function validatorOf(
  validator: { getValidator(schema: never): (input: unknown) => { valid: boolean; errorMessage?: string | undefined } },
  tool: RemoteTool,
): Calling["validate"] {
  let check: ((input: unknown) => { valid: boolean; errorMessage?: string | undefined }) | undefined;
  return (input) => {
    if (!isObject(input)) return [{ path: [], message: "must be an object" }];
    try {
      check ??= validator.getValidator(checkableSchema(tool.inputSchema) as never);
    } catch {
      // A schema that cannot be compiled checks nothing here: its server looks at the input itself.
      check = () => ({ valid: true });
    }
    const { valid, errorMessage = "is not what the schema wants" } = check(input);
    return valid ? [] : issuesOf(errorMessage);
  };
}
