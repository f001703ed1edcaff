// Tools over HTTP, for a client that does not start programs: `npx tsx examples/mcp-http-server/main.ts`
import { toolset } from "@toolhaft/core";
import { type HttpServing, serveHttp } from "@toolhaft/mcp/http";
import { price } from "../custom-tool/main.ts";

/** Listens on loopback on a free port; whoever has the token may call. */
export function start(): Promise<HttpServing> {
  return serveHttp(toolset(price), { name: "menu" });
}

if (import.meta.filename === process.argv[1]) {
  const { url, token } = await start();
  console.error(`${url}\nAuthorization: Bearer ${token}`);
}
