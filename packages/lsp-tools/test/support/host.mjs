// a program that makes two calls on real servers and then ends as told, without ever closing the family
import { createLspTools } from "@toolhaft/lsp-tools";

const [directory, way] = process.argv.slice(2);
const lsp = createLspTools({ trust: "workspace" });
const call = (name, input) => lsp.tools.find((tool) => tool.name === name).call(input, { directory });
const result = await call("lsp_diagnostics", { filePath: "src/main.ts" });
if (!result.ok) throw new Error(result.text);
const { data } = await call("lsp_servers", {});
console.log(JSON.stringify({ pids: data.servers.map((server) => server.pid) }));
// it waits to be looked at; once its input ends nothing of ours may hold the loop
if (way === "end") process.stdin.resume();
if (way === "wait") setInterval(() => {}, 1e6);
