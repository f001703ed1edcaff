import { createServer, type Server } from "node:http";
import { defineBench } from "@toolhaft/testing";
import { Agent, request } from "undici";
import { createNet } from "../src/index.ts";

const calls = 2_000;
const body = "x".repeat(10 * 1024);

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** What the guard costs on a connection that is there, and what it adds to a new one. Server and clients share this process. */
export default defineBench(async (bench) => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(body);
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}/page`;
  const options = { allow: [`127.0.0.1:${port}`], minIntervalMs: 0 };
  const net = createNet(options);
  const agent = new Agent({ connections: 6 });

  await bench.compare({
    name: `${calls} GETs of 10 KB, kept alive`,
    ours: async () => {
      for (let call = 0; call < calls; call += 1) await (await net.request({ url }, {})).bytes();
    },
    baseline: {
      name: "undici request",
      run: async () => {
        for (let call = 0; call < calls; call += 1)
          await (await request(url, { dispatcher: agent })).body.arrayBuffer();
      },
    },
    target: { max: 1.15 },
    batch: 1,
    rounds: 5,
  });

  const row = await bench.compare({
    name: "a client of its own and its first GET",
    ours: async () => {
      const fresh = createNet(options);
      await (await fresh.request({ url }, {})).bytes();
      await fresh.close();
    },
    baseline: {
      name: "undici Agent",
      run: async () => {
        const fresh = new Agent();
        await (await request(url, { dispatcher: fresh })).body.arrayBuffer();
        await fresh.close();
      },
    },
  });
  bench.figure({
    name: "CPU added to a first connection",
    ours: row.ours - row.baseline.value,
    baseline: { name: "3 ms", value: 3 },
    unit: "ms",
    target: { max: 1 },
  });

  await net.close();
  await agent.close();
  server.close();
  server.closeAllConnections();
});
