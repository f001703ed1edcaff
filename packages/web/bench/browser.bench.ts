import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { createNet } from "@toolhaft/net";
import { defineBench } from "@toolhaft/testing";
import { chromium } from "playwright-core";
import { createWeb } from "../src/index.ts";

const page = `<!doctype html><title>Page</title><main><h1>Page</h1>${"<p>A paragraph of the page, long enough to be read as text by anybody.</p>".repeat(30)}</main>`;
const stableMs = 500;
const leastMs = 1_500;

/** A warm `web_read` in the browser beside playwright-core alone, with the same wait for the text to settle. */
export default defineBench(async (bench) => {
  const path = spawnSync("sh", ["-c", "command -v chromium || command -v google-chrome"], {
    encoding: "utf8",
  }).stdout.trim();
  if (path === "") return bench.skip("browser", "no Chromium here (apt-get install chromium)");
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  const net = createNet({ allow: [new URL(url).host], minIntervalMs: 0 });
  const web = createWeb({ net, browser: { sandbox: false }, cache: false });
  const tool = web.tools.find(({ name }) => name === "web_read");
  const bare = await chromium.launch({ executablePath: path, chromiumSandbox: false, args: ["--disable-gpu"] });

  async function alone(): Promise<void> {
    const context = await bare.newContext();
    const tab = await context.newPage();
    await tab.goto(url, { waitUntil: "domcontentloaded" });
    const start = performance.now();
    let length = -1;
    let since = start;
    while (performance.now() - since < stableMs || performance.now() - start < leastMs) {
      const now = await tab.evaluate<number>("document.body.innerText.length");
      if (now !== length) since = performance.now();
      length = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await tab.content();
    await context.close();
  }

  async function ours(): Promise<void> {
    const result = await tool?.call({ url, engine: "browser" });
    if (result?.ok !== true) throw new Error(result?.text);
  }

  await bench.compare({
    name: "warm web_read in the browser",
    ours,
    baseline: { name: "playwright-core, same wait", run: alone },
    by: "wall",
    target: { max: 1.3 },
    rounds: 5,
    batch: 1,
  });
  await web.close();
  await net.close();
  await bare.close();
  server.close();
  server.closeAllConnections();
});
