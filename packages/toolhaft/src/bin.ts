#!/usr/bin/env node
// Runs on any Node far enough to say which one is needed; everything else is loaded afterwards.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`toolhaft needs Node 20.19 or newer; this is ${process.version}.\n`);
  process.exit(1);
}

// A server's standard output belongs to the protocol before anything else can print.
const stdout = process.argv[2] === "mcp" ? (await import("@toolhaft/mcp/stdout")).claimStdout() : undefined;
const { main } = await import("./main.ts");
const { processIo } = await import("./io.ts");
process.exitCode = await main(process.argv.slice(2), processIo(stdout));
