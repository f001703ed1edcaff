import { fork } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineBench } from "@toolhaft/testing";

interface Taken {
  /** Bytes of memory at the peak over those before the request. */
  peak: number;
  cpuMs: number;
  outcome: string;
}

const child = fileURLToPath(new URL("./bomb-child.ts", import.meta.url));

/** One request in a process of its own. */
function take(client: string, url: string): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const started = fork(child, [client, url], { execArgv: process.execArgv });
    started.once("message", (message) => resolve(message as Taken));
    started.once("error", reject);
    started.once("exit", (code) => reject(new Error(`the child ended with ${code}`)));
  });
}

/** Bodies that unfold to 200 MB: what a capped read costs, beside a client that reads them whole. */
export default defineBench(async (bench) => {
  const zeros = Buffer.alloc(200_000_000);
  const gzip = gzipSync(zeros, { level: 9 });
  const bombs: Record<string, [string, Buffer]> = {
    gzip: ["gzip", gzip],
    brotli: ["br", brotliCompressSync(zeros)],
    "gzip twice": ["gzip, gzip", gzipSync(gzip)],
  };
  const server = createServer((request, response) => {
    const [encoding, bytes] = bombs[decodeURIComponent(request.url?.slice(1) ?? "")] ?? ["identity", Buffer.alloc(0)];
    response.writeHead(200, { "content-encoding": encoding, "content-length": bytes.length }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const base = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const rows: (string | number)[][] = [];
  for (const name of Object.keys(bombs)) {
    const url = `${base}/${encodeURIComponent(name)}`;
    const ours = await take("ours", url);
    // undici undoes one encoding only, so of the last it reads the inner bomb as it is.
    const peer = await take("undici", url);
    rows.push([
      name,
      bombs[name]?.[1].length ?? 0,
      ours.outcome,
      Math.round(ours.peak / 1e6),
      Math.round(ours.cpuMs),
      peer.outcome,
      Math.round(peer.peak / 1e6),
    ]);
    bench.figure({
      name: `${name}: memory over the start`,
      ours: ours.peak / 1e6,
      baseline: { name: "64 MB", value: 64 },
      unit: "MB",
      target: { max: 1 },
    });
    bench.figure({
      name: `${name}: CPU`,
      ours: ours.cpuMs,
      baseline: { name: "1 s", value: 1_000 },
      unit: "ms",
      target: { max: 1 },
    });
  }
  bench.table(
    "Bombs, capped at 20 MiB",
    ["bomb", "bytes sent", "ours ends in", "ours MB", "ours CPU ms", "undici fetch ends in", "undici MB"],
    rows,
  );
  server.close();
  server.closeAllConnections();
});
