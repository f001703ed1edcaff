// Ask a language server about a file and rename a symbol everywhere: npx tsx examples/lsp-tools/main.ts src/main.ts total sum
import { createLspTools } from "@toolhaft/lsp-tools";

/** Finds the errors of a file, shows every use of a symbol, and previews a rename. Nothing is written. */
export async function lookAndRename(
  directory: string,
  filePath: string,
  symbol: string,
  newName: string,
): Promise<string> {
  // the servers end with this block, whatever happens in it
  await using lsp = createLspTools();
  const call = async (name: string, input: object) => {
    const tool = lsp.tools.find((one) => one.name === name);
    const result = await tool?.call(input, { directory });
    return result?.text ?? `there is no tool ${name}`;
  };
  const answers = [
    await call("lsp_diagnostics", { filePath, severity: "error" }),
    await call("lsp_find_references", { filePath, symbol }),
    await call("lsp_rename", { filePath, symbol, newName, dryRun: true }),
  ];
  return answers.join("\n\n");
}

if (process.argv[1] === import.meta.filename) {
  const [filePath = "src/main.ts", symbol = "main", newName = "start"] = process.argv.slice(2);
  console.log(await lookAndRename(process.cwd(), filePath, symbol, newName));
}
