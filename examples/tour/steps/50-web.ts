import { createServer } from "node:http";
import type { Tool } from "@toolhaft/core";
import { createWeb, type Web } from "@toolhaft/web";
import { defineStep } from "../tour.ts";

const page = `<!doctype html><html lang="en"><title>Guide to hafts</title><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<main><article><h1>Guide to hafts</h1><p>A haft is the handle by which a tool is held. Ash and hickory are the usual woods for it,
since both take a blow along the grain without breaking.</p><table><tr><th>Wood</th><th>Use</th></tr><tr><td>Ash</td><td>spades</td></tr>
<tr><td>Hickory</td><td>hammers</td></tr></table><p>Read more in the <a href="/care">notes on care</a>, which tell how to oil one.</p></article></main>`;

const reader = (web: Web): Tool | undefined => web.tools.find(({ name }) => name === "web_read");

export default defineStep({
  title: "Read a page from a server on loopback that was allowed, and see every other private address refused",
  async run(tour) {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    tour.onEnd(() => server.close());
    await using open = createWeb({ net: { allow: [`127.0.0.1:${port}`] } });
    await using shut = createWeb();

    const read = async (web: Web, url: string, how: string): Promise<string> => {
      const result = await reader(web)?.call({ url });
      const text = result?.text ?? "";
      tour.show(`web_read {"url":"${url}"}${how}`, text);
      return text;
    };
    const url = `http://127.0.0.1:${port}/guide`;
    const guide = await read(open, url, ` with options.net.allow ["127.0.0.1:${port}"]`);
    tour.check(guide.includes("| Ash | spades |") && !guide.includes("Shop"), "the page was not read as an article");
    for (const place of [url, "http://0x7f.1/", "http://169.254.169.254/latest/meta-data/"]) {
      tour.check((await read(shut, place, "")).startsWith("denied:"), `${place} was not refused`);
    }
  },
});
