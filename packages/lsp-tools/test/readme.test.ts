import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { tempWorkspace } from "@toolhaft/testing";
import ts from "typescript";
import { expect, test } from "vitest";
import { serverBin } from "./support/family.ts";

test("the example of the README runs as it is printed", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  await using workspace = await tempWorkspace({
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": [] } }',
    "src/main.ts": 'export const n: number = "x";\n',
  });
  const placed = code.replace("process.cwd()", JSON.stringify(workspace.directory));
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(placed, { compilerOptions: options });
  const result = spawnSync(process.execPath, ["--input-type=module", "-e", outputText], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    encoding: "utf8",
    env: { ...process.env, PATH: [serverBin, process.env.PATH].join(delimiter) },
  });
  expect(result.stderr).toBe("");
  expect(result.stdout).toMatch(/^1 error in src\/main\.ts · typescript/);
});
