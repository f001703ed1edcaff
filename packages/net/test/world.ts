import { ToolError } from "@toolhaft/core";
import { documentationRanges, startWebWorld, type WebWorld, type WebWorldOptions } from "@toolhaft/testing/web-world";
import { expect, onTestFinished } from "vitest";
import { createNet, dnsResolver, type Net, type NetOptions } from "../src/index.ts";

export interface TestNet {
  world: WebWorld;
  net: Net;
}

/** A client whose names are looked up in the test's own zone and whose sockets end in the test's own servers. */
export async function testNet(options: NetOptions = {}, worldOptions: WebWorldOptions = {}): Promise<TestNet> {
  const world = await startWebWorld(worldOptions);
  const net = createNet({
    resolve: dnsResolver({ servers: [world.dns.address] }),
    dial: world.dial,
    resolvedRanges: documentationRanges,
    minIntervalMs: 0,
    ca: world.ca === "" ? [] : world.ca,
    ...options,
  });
  onTestFinished(async () => {
    await net.close();
    await world.close();
  });
  return { world, net };
}

/** The failure of a call that must fail. */
export async function failure(work: () => unknown): Promise<ToolError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  return expect.fail("the call succeeded");
}

export async function textOf(net: Net, url: string): Promise<string> {
  const response = await net.request({ url }, {});
  return new TextDecoder().decode(await response.bytes());
}
