// Use the tools from any MCP client: npx tsx examples/mcp-client/main.ts
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** Lists the tools of a server and reads a file with one. */
export async function readOverMcp(
  filePath: string,
  directory = process.cwd(),
): Promise<{ tools: string[]; text: string }> {
  // From a project of yours: command "npx", args ["-y", "toolhaft", "mcp", "hashline"].
  const program = new URL("../node_modules/toolhaft/dist/bin.js", import.meta.url).pathname;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", "hashline", "--quiet"],
    cwd: directory,
  });
  const client = new Client({ name: "example", version: "1.0.0" });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: "hashline_read", arguments: { filePath } });
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return { tools: tools.map(({ name }) => name), text };
  } finally {
    await client.close();
  }
}

if (process.argv[1] === import.meta.filename) {
  const { tools, text } = await readOverMcp("README.md");
  console.log(`${tools.join(", ")}\n\n${text.split("\n").slice(0, 10).join("\n")}`);
}
