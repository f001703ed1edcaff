// a program that makes one call on real servers and then ends as told, without ever closing the family
import { createLspTools } from "@toolhaft/lsp-tools";

const [directory, way, servers] = process.argv.slice(2);
const lsp = createLspTools({ trust: "workspace", servers: JSON.parse(servers) });
const call = (name, input) => lsp.tools.find((tool) => tool.name === name).call(input, { directory });
// on a busy machine a server may need more than one call to come up
for (let complete = false; !complete; ) {
  const result = await call("lsp_diagnostics", { filePath: "src/main.ts" });
  complete = result.ok && result.data.complete;
  if (!complete) console.error(result.text);
}
const { data } = await call("lsp_servers", {});
console.log(JSON.stringify({ pids: data.servers.flatMap((server) => server.pid ?? []) }));
// it waits to be looked at until its input ends; then nothing of ours may hold the loop
process.stdin.resume();
process.stdin.once("end", () => {
  if (way === "throw") throw new Error("on purpose");
  if (way === "exit") process.exit(3);
});
if (way === "wait") setInterval(() => {}, 1e6);
