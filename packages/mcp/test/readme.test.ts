import { readFileSync } from "node:fs";
import { runExample, tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { initialize } from "./http-request.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [stdio = "", http = "", bridge = ""] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
const beside = new URL("./", import.meta.url);

it("the README's example compiles and serves", { timeout: 300_000 }, async () => {
  await using workspace = await tempWorkspace();
  const printed = await runExample(stdio, beside, { cwd: workspace.directory, input: `${initialize}\n` });
  expect(JSON.parse(printed)).toMatchObject({ id: 1, result: { serverInfo: { name: "files" } } });
});

it("the README's server over HTTP compiles and listens", { timeout: 300_000 }, async () => {
  const before = `import { toolset } from "@toolhaft/core";\nconst tools = toolset();\n`;
  const after = `console.log(new URL(url).hostname, token?.length);\nprocess.exit();\n`;
  expect(await runExample(before + http + after, beside)).toBe("127.0.0.1 43\n");
});

it("the README's bridge compiles and has the tools of both", { timeout: 300_000 }, async () => {
  await using workspace = await tempWorkspace();
  const server = new URL("../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url);
  const before = `import { toolset } from "@toolhaft/core";\nimport { createHashline } from "@toolhaft/hashline";\n`;
  // In place of the copy that npx would fetch: the same program.
  const here = bridge
    .replace('"npx"', JSON.stringify(process.execPath))
    .replace('"-y", "@modelcontextprotocol/server-filesystem"', JSON.stringify(server.pathname));
  expect(here).toContain(server.pathname);
  const after = `console.log(all.tools.map(({ name }) => name).join(" "));\nawait all.close();\n`;
  const printed = await runExample(before + here + after, beside, { cwd: workspace.directory });
  expect(printed).toMatch(/^hashline_read .*read_text_file/);
});
