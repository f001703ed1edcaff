import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

it("the example of the README runs and prints what it says", async () => {
  await using place = await tempWorkspace();
  const [, example = ""] = /```ts\n(.*?)```/s.exec(readFileSync(file("README.md"), "utf8")) ?? [];
  // `await using` is newer than Node 20; the same thing in its words.
  const script = example
    .replace('"@toolhaft/workspace"', JSON.stringify(file("dist/index.js")))
    .replace("await using workspace", "const workspace");
  writeFileSync(join(place.directory, "example.mjs"), `${script}\nawait workspace.close();\n`);
  const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], { cwd: place.directory });
  expect(stdout).toContain("-two\n+TWO\n");
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("two");
  expect(await place.read("src/old.txt")).toBe("x\n");
});

it("importing the package makes no file-system call of its own and loads no optional library", async () => {
  const script = `
    const fs = require("node:fs");
    let calls = 0;
    import(${JSON.stringify(file("dist/index.js"))}).then(async (workspace) => {
      const loaded = Object.keys(require.cache).filter((name) => name.includes("iconv"));
      workspace.createWorkspace({ root: "/nowhere/at/all" });
      console.log(JSON.stringify({ calls, loaded, exists: fs.existsSync("/nowhere/at/all") }));
    });
    for (const name of ["mkdirSync", "writeFileSync", "openSync", "statSync", "lstatSync", "linkSync"]) {
      const real = fs[name];
      fs[name] = (...args) => {
        if (!String(args[0]).includes("node_modules") && !String(args[0]).includes("/packages/")) calls++;
        return real(...args);
      };
    }
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
  expect(JSON.parse(stdout)).toEqual({ calls: 0, loaded: [], exists: false });
});
