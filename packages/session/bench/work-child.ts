import { appendFileSync, readFileSync } from "node:fs";
import { claudeCodeStore, codexStore, createSessions } from "../src/index.ts";

/** Runs one row of the bench in a process of its own: its time and its peak memory over idle are told as JSON. */
const [, , root = "", directory = "", tool = "", input = "{}", before = "", host = "claude-code"] = process.argv;

const sessions = createSessions({
  stores: [host === "codex" ? codexStore({ home: root }) : claudeCodeStore({ roots: [root] })],
  projects: "all",
  indexMs: Number.MAX_SAFE_INTEGER,
  scanMs: Number.MAX_SAFE_INTEGER,
});
const call = (name: string, value: object) => {
  const found = sessions.tools.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found.call(value, { directory });
};
if (before === "open") await call("session_list", { limit: 1 });
if (before.startsWith("append:")) {
  await call("session_list", { limit: 1 });
  const path = before.slice("append:".length);
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  let text = "";
  for (let n = 0; text.length < 1_000_000; n += 1) {
    text += `${(lines[n % lines.length] ?? "")
      .replace(/"uuid":"[^"]*"/, `"uuid":"more-${n}"`)
      .replace(/"msg_[^"]*"/, `"msg_more_${n}"`)}\n`;
  }
  appendFileSync(path, text);
}
globalThis.gc?.();
const idle = process.memoryUsage.rss();
const start = performance.now();
const cpu = process.cpuUsage();
const result = await call(tool, JSON.parse(input));
const { user, system } = process.cpuUsage(cpu);
const wall = performance.now() - start;
const peak = process.resourceUsage().maxRSS * 1024;
await sessions.close();
if (!result.ok) throw new Error(result.text);
process.stdout.write(
  JSON.stringify({
    wall,
    cpu: (user + system) / 1000,
    peak: Math.max(0, peak - idle),
    text: result.text.slice(0, 200),
  }),
);
