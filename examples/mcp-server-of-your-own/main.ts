// An MCP server of your own tools and ours: put `npx tsx examples/mcp-server-of-your-own/main.ts` into a client's settings.
import { toolset } from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";
import { serveStdio } from "@toolhaft/mcp";
import { price } from "../custom-tool/main.ts";

const tools = toolset(price, createHashline()).omit("hashline_edit");
await serveStdio(tools, { name: "menu", instructions: "Read files and look up prices." });
