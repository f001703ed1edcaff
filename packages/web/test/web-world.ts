import type { ContextInit, ToolFailure, ToolResult } from "@toolhaft/core";
import { createNet, dnsResolver, type NetOptions } from "@toolhaft/net";
import { documentationRanges, startWebWorld, type WebWorld, type WebWorldOptions } from "@toolhaft/testing/web-world";
import { expect, onTestFinished } from "vitest";
import { createWeb, type PageResult, type Web, type WebOptions } from "../src/index.ts";

export interface TestWeb {
  world: WebWorld;
  web: Web;
  call(tool: string, input: unknown, context?: ContextInit): Promise<ToolResult>;
  fetch(url: string, more?: Record<string, unknown>, context?: ContextInit): Promise<ToolResult>;
}

/** The options of a client whose names and sockets end in the test's own servers. */
export function worldNet(world: WebWorld, options: NetOptions = {}): NetOptions {
  return {
    resolve: dnsResolver({ servers: [world.dns.address] }),
    dial: world.dial,
    resolvedRanges: documentationRanges,
    minIntervalMs: 0,
    ...(world.ca === "" ? {} : { ca: world.ca }),
    ...options,
  };
}

export interface TestWebOptions extends Omit<WebOptions, "net"> {
  net?: NetOptions;
  world?: WebWorldOptions;
}

/** The family on servers of this test, which end with it. */
export async function testWeb(options: TestWebOptions = {}): Promise<TestWeb> {
  const test = await startTestWeb(options);
  onTestFinished(test.close);
  return test;
}

/** The same for tests that share one world; who starts it closes it. */
export async function startTestWeb({
  net = {},
  world: worldOptions,
  ...options
}: TestWebOptions = {}): Promise<TestWeb & { close(): Promise<void> }> {
  const world = await startWebWorld(worldOptions);
  const client = createNet(worldNet(world, net));
  const web = createWeb({ worker: false, ...options, net: client });
  const close = async (): Promise<void> => {
    await web.close();
    await client.close();
    await world.close();
  };
  const call: TestWeb["call"] = async (name, input, context = {}) => {
    const tool = web.tools.find((each) => each.name === name);
    if (tool === undefined) return expect.fail(`there is no tool ${name}`);
    return tool.call(input, context);
  };
  return {
    world,
    web,
    call,
    close,
    fetch: (url, more = {}, context = {}) => call("web_fetch", { url, ...more }, context),
  };
}

/** The failure of a result that must be one. */
export function failureOf(result: ToolResult): ToolFailure & { text: string } {
  if (result.ok) return expect.fail(`it succeeded: ${result.text.slice(0, 300)}`);
  return { ...result.error, text: result.text };
}

export interface PageSuccess {
  text: string;
  data: PageResult;
}

/** The page of a result that must be one. */
export function pageOf(result: ToolResult): PageSuccess {
  if (!result.ok) return expect.fail(result.text);
  return { text: result.text, data: result.data as PageResult };
}
