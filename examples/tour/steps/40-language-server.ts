import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { defineStep } from "../tour.ts";

const files: Record<string, string> = {
  "tour-project/tsconfig.json":
    '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["*.ts"] }\n',
  "tour-project/shapes.ts": "export function scale(length: number, by: number): number {\n  return length * by;\n}\n",
  "tour-project/main.ts":
    'import { scale } from "./shapes";\n\nexport const double: number = scale(2, "2");\nexport const triple = scale(2, 3);\n',
};

export default defineStep({
  title: "Ask a real language server: an error, definition, references, a rename across files, clean again",
  needs: ["lsp_diagnostics", "lsp_goto_definition", "lsp_find_references", "lsp_rename"],
  async run(tour) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(tour.path(name)), { recursive: true });
      writeFileSync(tour.path(name), text);
    }
    const main = "tour-project/main.ts";
    // on a machine without the server the answer is the line that installs it
    const servers = await tour.call("lsp_servers", {});
    if (/^typescript .*not installed/m.test(servers.text)) {
      tour.skip("no TypeScript language server: npm install -g typescript-language-server@5 typescript@5.9");
    }
    const broken = await tour.call("lsp_diagnostics", { filePath: main, severity: "error" });
    tour.check(broken.text.includes("2345"), "the type error was not found");
    const definition = await tour.call("lsp_goto_definition", { filePath: main, line: 3, symbol: "scale" });
    tour.check(definition.text.includes("tour-project/shapes.ts"), "the definition was not found");
    const references = await tour.call("lsp_find_references", { filePath: "tour-project/shapes.ts", symbol: "scale" });
    tour.check(references.text.startsWith("4 references"), "not all references were found");
    const renamed = await tour.call("lsp_rename", { filePath: main, line: 3, symbol: "scale", newName: "resize" });
    tour.check(renamed.text.includes("4 edits in 2 files"), "the rename did not reach both files");
    writeFileSync(
      tour.path(main),
      'import { resize } from "./shapes";\n\nexport const double: number = resize(2, 2);\n',
    );
    const clean = await tour.call("lsp_diagnostics", { filePath: main, severity: "error" });
    tour.check(clean.text.includes("is clean"), "the repaired file is not clean");
  },
});
