import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { startChild } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const built = existsSync(place("../dist/page/worker.js"));
if (!built) console.warn("SKIPPED: the built package is not there (pnpm --filter @toolhaft/web... run build)");

/** Loaded on first use only. */
const heavy = /\/(?:undici|unpdf|feedsmith|playwright-core|jsdom|linkedom|css-select|@exodus)(?:\/|@)/;

describe.skipIf(!built)("the built package", () => {
  it("opens nothing and loads nothing heavy on import, reads a page in its worker, and leaves nothing behind", async () => {
    const server = createServer((_request, response) =>
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(
          `<main><h1>Guide</h1>${"<p>A page with enough words in it to be read as what it is.</p>".repeat(5)}</main>`,
        ),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const child = startChild(place("./fixtures/import.mjs"), [`http://127.0.0.1:${port}/`]);
    // Nothing ends it: it does when no timer, socket or thread is left.
    expect(await child.ended, child.stderr()).toBe(0);
    const said = JSON.parse(child.lines[0] ?? "") as {
      onImport: string[];
      opened: number;
      ok: boolean;
      text: string;
      left: string[];
    };
    expect(said.onImport.filter((url) => heavy.test(url))).toEqual([]);
    expect(said.onImport.some((url) => url.includes("/web/dist/index.js"))).toBe(true);
    expect(said.opened).toBeLessThanOrEqual(0);
    expect(said.ok, said.text).toBe(true);
    expect(said.text).toContain("# Guide");
    expect(said.left.filter((name) => /TCP|Timeout|MessagePort|Worker|FSReq/i.test(name))).toEqual([]);
  });
});
