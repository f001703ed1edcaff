import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

const home = fileURLToPath(new URL("..", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));
const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const environment = { ...process.env, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") };

/** Runs a program against the sources, in a folder of its own that lies in the package so that imports are found. */
function runProgram(code: string, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "hashline-readme-"));
  const program = join(home, "test", `.program-${process.pid}.ts`);
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    writeFileSync(program, code);
    const options = { cwd: folder, env: environment, encoding: "utf8" } as const;
    return execFileSync(process.execPath, ["--import", loader, program], options);
  } finally {
    rmSync(program, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("the package", () => {
  it("runs the example of its README", () => {
    const readme = readFileSync(join(home, "README.md"), "utf8");
    const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
    const printed = runProgram(example.replace("await using hashline", "const hashline"), {
      "notes.txt": "buy milk\ncall Ada\n",
    });
    expect(printed).toMatch(/^notes\.txt\nversion: [0-9a-f]{12}\nhashWidth: 2\ntotalLines: 2\n1#[a-z]{2}\|buy milk\n/);
    expect(printed).toMatch(/\+2#[a-z]{2}\|call Ada at nine/);
  });

  it("loads no WebAssembly and opens nothing when it is imported and a family is made", () => {
    const printed = runProgram(
      `const compile = WebAssembly.Module;
      let compiled = 0;
      WebAssembly.Module = new Proxy(compile, { construct: (target, args) => { compiled++; return new target(...args); } });
      WebAssembly.instantiate = new Proxy(WebAssembly.instantiate, { apply: (target, self, args) => { compiled++; return Reflect.apply(target, self, args); } });
      const { createHashline } = await import("@toolhaft/hashline");
      const { readdirSync } = await import("node:fs");
      const hashline = createHashline();
      const before = compiled + " " + readdirSync(".").length;
      await hashline.tools[0].call({ filePath: "f" }, { directory: process.cwd() });
      await hashline.close();
      console.log(before, compiled > 0, process.getActiveResourcesInfo().filter((name) => !/TTY|Pipe/.test(name)).length);`,
      { f: "a\n" },
    );
    expect(printed).toBe("0 1 true 0\n");
  });
});
