import { createNet } from "../src/index.ts";

const [, , client = "", url = ""] = process.argv;
const port = new URL(url).port;

async function ours(): Promise<string> {
  const net = createNet({ allow: [`127.0.0.1:${port}`], minIntervalMs: 0 });
  try {
    const response = await net.request({ url }, {});
    // Read and let go, as a caller would that streams it.
    for await (const _chunk of response.body);
    return "read";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    await net.close();
  }
}

async function peer(): Promise<string> {
  const { fetch } = await import("undici");
  try {
    const bytes = await (await fetch(url)).arrayBuffer();
    return `${Math.round(bytes.byteLength / 1e6)} MB read`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// The library is loaded before anything is measured.
await import("undici");
globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
const start = process.cpuUsage();
const outcome = await (client === "ours" ? ours() : peer());
const used = process.cpuUsage(start);
clearInterval(timer);
peak = Math.max(peak, process.memoryUsage.rss());
process.send?.({ peak: peak - before, cpuMs: (used.user + used.system) / 1_000, outcome });
