// node killed-rename.mjs '{"directory","lockDir","servers","killAt","rename"}'
// Renames over many files and kills itself at the file-system call `killAt` of the commit.
import { createLspTools } from "@toolhaft/lsp-tools";
import { createWorkspace, nodeFileSystem } from "@toolhaft/workspace";

const { directory, lockDir, servers, killAt, rename } = JSON.parse(process.argv[2]);
let counting = false;
let calls = 0;
const counted =
  (work) =>
  (...args) => {
    if (counting && ++calls === killAt) {
      process.kill(process.pid, "SIGKILL");
      for (;;);
    }
    return work.apply(nodeFileSystem, args);
  };
const fileSystem = Object.fromEntries(
  Object.entries(nodeFileSystem).map(([name, value]) => [name, typeof value === "function" ? counted(value) : value]),
);
const workspace = createWorkspace({ root: directory, lockDir, fileSystem });
const lsp = createLspTools({ trust: "workspace", workspace, servers });
const call = (name, input) => lsp.tools.find((tool) => tool.name === name).call(input, { directory });
await call("lsp_rename", { ...rename, dryRun: true });
counting = true;
const result = await call("lsp_rename", rename);
counting = false;
console.log(JSON.stringify({ ok: result.ok, text: result.text, calls }));
await lsp.close();
await workspace.close();
