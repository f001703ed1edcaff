import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { long } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf, pageOf, startTestWeb, type TestWeb, testWeb } from "../web-world.ts";

const found =
  ["chromium", "google-chrome"].some((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0) ||
  process.env.CHROMIUM_PATH !== undefined;
if (!found) console.warn("SKIPPED: the browser tests need Chromium (apt-get install chromium)");

const words = "This paragraph stands in the page from the start and is long enough to be taken for its text. ".repeat(
  4,
);

/** A page of the public server that runs a script. */
const withScript = (script: string): string =>
  `<!doctype html><title>Page</title><main><h1>Page</h1><p>${words}</p><p id="out"></p></main><script>${script}</script>`;

const zone = [
  ["inside.pub", ["127.0.0.1"]],
  ["inner.pub", ["10.0.0.8"]],
  ["gone.pub", "nxdomain"],
] as const;

const read = async (test: TestWeb, url: string, more: Record<string, unknown> = {}) =>
  test.call("web_fetch", { url, engine: "browser", format: "text", timeout: 120, ...more });

describe.skipIf(!found)("browser engine", () => {
  // One browser for all of them: starting one takes longer than most pages.
  let test: Awaited<ReturnType<typeof startTestWeb>>;
  beforeAll(async () => {
    test = await startTestWeb({ world: { zone }, browser: { sandbox: false }, cache: false });
  });
  afterAll(() => test.close());

  it("gives the page as its scripts left it, in every format, with its own public resources", async () => {
    test.world.on(
      "http://s.pub/",
      withScript(
        `fetch("/data.json").then((r) => r.json()).then((d) => { document.getElementById("out").textContent = d.word; });`,
      ),
    );
    test.world.on("http://s.pub/data.json", '{"word":"from-the-script"}');
    const { data } = pageOf(await read(test, "http://s.pub/"));
    expect(data.content).toContain("from-the-script");
    expect(data).toMatchObject({ engine: "browser", status: 200, finalUrl: "http://s.pub/" });
    expect(pageOf(await read(test, "http://s.pub/", { format: "raw" })).data.content).toContain(
      '<p id="out">from-the-script</p>',
    );
    expect(test.world.seen.map(({ url }) => new URL(url).host)).toEqual(Array(test.world.seen.length).fill("s.pub"));
  });

  it("chrome-1, chrome-3: images, frames, fetch, beacons, event streams and names reach nothing private", async () => {
    const { port } = test.world.private;
    const places = [
      `http://127.0.0.1:${port}`,
      `http://localhost:${port}`,
      `http://inside.pub`,
      `http://[::1]:${port}`,
      `http://0.0.0.0:${port}`,
    ];
    test.world.on(
      "http://s.pub/",
      withScript(`
        for (const place of ${JSON.stringify(places)}) {
          new Image().src = place + "/image";
          for (const tag of ["iframe", "script", "embed"]) { const e = document.createElement(tag); e.src = place + "/" + tag; document.body.append(e); }
          for (const rel of ["stylesheet", "prefetch", "preload", "dns-prefetch", "preconnect", "prerender"]) { const l = document.createElement("link"); l.rel = rel; l.href = place + "/" + rel; l.as = "script"; document.head.append(l); }
          fetch(place + "/fetch", { mode: "no-cors" }).catch(() => {});
          navigator.sendBeacon(place + "/beacon", "x");
          new EventSource(place + "/events");
          const f = document.createElement("form"); f.action = place + "/form"; f.target = "_blank"; f.method = "POST"; document.body.append(f); f.submit();
          try { window.open(place + "/popup"); } catch {}
        }
        try { navigator.serviceWorker.register("/worker.js").catch(() => {}); } catch {}
      `),
    );
    test.world.on("http://s.pub/worker.js", (_request, response) =>
      response
        .writeHead(200, { "content-type": "text/javascript" })
        .end(`fetch("http://127.0.0.1:${port}/sw", { mode: "no-cors" });`),
    );
    const { data } = pageOf(await read(test, "http://s.pub/"));
    expect(test.world.private.connections).toEqual([]);
    const note = data.notes.find(({ code }) => code === "blocked_origins");
    expect(note?.message).toMatch(/127\.0\.0\.1/);
    expect(note?.message).toMatch(/localhost/);
    expect(note?.message).toMatch(/inside\.pub/);
  });

  it("chrome-2: WebSockets from the page and from a worker", async () => {
    const { port } = test.world.private;
    const socket = `try { new WebSocket("ws://127.0.0.1:${port}/"); new WebSocket("ws://localhost:${port}/"); } catch {}`;
    test.world.on(
      "http://s.pub/",
      withScript(
        `${socket} new Worker(URL.createObjectURL(new Blob([${JSON.stringify(socket)}], { type: "text/javascript" })));`,
      ),
    );
    pageOf(await read(test, "http://s.pub/"));
    expect(test.world.private.connections).toEqual([]);
  });

  it(`chrome-4: STUN over UDP, in ${long ? 10 : 2} runs`, async () => {
    const { port } = test.world.private;
    test.world.on(
      "http://s.pub/",
      withScript(
        `for (const host of ["127.0.0.1", "localhost"]) { const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:" + host + ":${port}" }, { urls: "turn:" + host + ":${port}?transport=tcp", username: "u", credential: "c" }] }); c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)); }`,
      ),
    );
    const run = async () => pageOf(await read(test, "http://s.pub/"));
    for (let pair = 0; pair < (long ? 5 : 1); pair += 1) await Promise.all([run(), run()]);
    expect(test.world.private.connections).toEqual([]);
  });

  it.each([
    [
      "a script, after a second",
      (target: string) => withScript(`setTimeout(() => { location = "${target}"; }, 1000);`),
    ],
    ["a meta refresh", (target: string) => `<meta http-equiv="refresh" content="1;url=${target}"><p>${words}</p>`],
    [
      "a link that clicks itself",
      (target: string) =>
        withScript(`const a = document.createElement("a"); a.href = "${target}"; document.body.append(a); a.click();`),
    ],
  ])("chrome-5: the page goes to a private place by %s", async (_how, page) => {
    for (const target of [`http://127.0.0.1:${test.world.private.port}/`, "http://inner.pub/"]) {
      test.world.on("http://s.pub/", page(target));
      expect(failureOf(await read(test, "http://s.pub/")), target).toMatchObject({ code: "denied" });
    }
    expect(test.world.private.connections).toEqual([]);
  });

  it("refuses private places before it starts a browser, and behind redirects", async () => {
    expect(failureOf(await read(test, "http://127.0.0.1/"))).toMatchObject({
      code: "denied",
      details: { rule: "address.loopback" },
    });
    test.world.on("http://s.pub/go", (_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${test.world.private.port}/` }).end(),
    );
    expect(failureOf(await read(test, "http://s.pub/go")).code).toBe("denied");
    expect(test.world.private.connections).toEqual([]);
  });

  it("asks the gate for every origin of the page before it is reached", async () => {
    test.world.on("http://s.pub/", withScript(`fetch("http://other.pub/x", { mode: "no-cors" }).catch(() => {});`));
    test.world.on("http://other.pub/x", "x");
    const { createPolicy } = await import("@toolhaft/core");
    const policy = createPolicy({
      rules: [
        { effect: "allow", permission: "net.fetch" },
        { effect: "deny", permission: "net.fetch", resources: "other.pub" },
      ],
    });
    const { data } = pageOf(await test.fetch("http://s.pub/", { engine: "browser", format: "text" }, { policy }));
    expect(test.world.seen.some(({ url }) => url.includes("other.pub"))).toBe(false);
    expect(data.notes.map(({ code }) => code)).toContain("blocked_origins");
  });

  it("tells HTTP errors, unknown hosts, dialogs, endless navigation, hung and crashing pages", async () => {
    test.world.on("http://s.pub/500", (_request, response) =>
      response.writeHead(500, { "content-type": "text/html" }).end("<p>broken</p>"),
    );
    expect(failureOf(await read(test, "http://s.pub/404")).code).toBe("not_found");
    expect(failureOf(await read(test, "http://s.pub/500")).code).toBe("upstream");
    expect(failureOf(await read(test, "http://gone.pub/")).code).toBe("not_found");
    test.world.on(
      "http://s.pub/dialog",
      withScript(
        'alert("x"); confirm("y"); prompt("z"); document.getElementById("out").textContent = "after the dialogs";',
      ),
    );
    expect(pageOf(await read(test, "http://s.pub/dialog")).data.content).toContain("after the dialogs");
    test.world.on("http://s.pub/on", withScript('setTimeout(() => { location = "/on?" + Math.random(); }, 50);'));
    expect(failureOf(await read(test, "http://s.pub/on")).code).toBe("upstream");
    test.world.on("http://s.pub/hung", withScript("setTimeout(() => { for (;;); }, 100);"));
    expect(failureOf(await read(test, "http://s.pub/hung", { timeout: 5 })).code).toBe("timeout");
    test.world.on("http://s.pub/after", withScript(""));
    expect(pageOf(await read(test, "http://s.pub/after")).data.content).toContain("This paragraph");
  });

  it("follows redirects and gives the chain", async () => {
    test.world.on("http://s.pub/go", (_request, response) => response.writeHead(301, { location: "/end" }).end());
    test.world.on("http://s.pub/end", withScript(""));
    const { data } = pageOf(await read(test, "http://s.pub/go"));
    expect(data.redirects).toEqual([{ status: 301, from: "http://s.pub/go", to: "http://s.pub/end" }]);
  });

  it("refuses headers that it would send to every origin, and sends accept-language", async () => {
    test.world.on("http://s.pub/", withScript(""));
    expect(failureOf(await read(test, "http://s.pub/", { headers: { authorization: "Bearer t" } })).code).toBe(
      "unsupported",
    );
    pageOf(await read(test, "http://s.pub/", { headers: { "Accept-Language": "de" } }));
    expect(test.world.seen.at(-1)?.headers["accept-language"]).toBe("de");
  });

  it("leaves no process and no folder after close, and does not start again", async () => {
    const own = await testWeb({ browser: { sandbox: false } });
    own.world.on("http://s.pub/", withScript(""));
    const folders = (): string[] =>
      readdirSync(tmpdir()).filter((name) => name.startsWith("playwright_chromiumdev_profile"));
    const before = new Set(folders());
    pageOf(await read(own, "http://s.pub/"));
    const mine = folders().filter((name) => !before.has(name));
    expect(mine).toHaveLength(1);
    const processes = (): string =>
      spawnSync("sh", ["-c", `ps ax -o args | grep -c "[u]ser-data-dir=.*${mine[0]}" || true`], {
        encoding: "utf8",
      }).stdout.trim();
    expect(Number(processes())).toBeGreaterThan(0);
    await own.web.close();
    await expect.poll(processes, { timeout: 10_000 }).toBe("0");
    await expect.poll(() => folders().includes(mine[0] ?? "")).toBe(false);
    expect(failureOf(await read(own, "http://s.pub/?again")).code).toBe("unavailable");
  });

  it("is cancelled with the call", async () => {
    await test.world.raw("mute.pub", () => undefined);
    const controller = new AbortController();
    const call = test.fetch("http://mute.pub/", { engine: "browser" }, { signal: controller.signal });
    await expect.poll(() => test.world.sockets.size, { timeout: 20_000 }).toBeGreaterThan(0);
    controller.abort();
    expect(failureOf(await call).code).toBe("cancelled");
    await expect.poll(() => test.world.sockets.size, { timeout: 10_000 }).toBe(0);
  });
});

describe("without a browser", () => {
  it("says how to get one", async () => {
    const test = await testWeb({ browser: { executablePath: "/nowhere/chromium", sandbox: false } });
    const failure = failureOf(await read(test, "http://s.pub/"));
    expect(failure.code).toBe("unavailable");
    expect(failure.hint).toMatch(/chromium/);
  });

  it.runIf(process.getuid?.() === 0 && found)("does not drop the sandbox by itself", async () => {
    const test = await testWeb();
    const failure = failureOf(await read(test, "http://s.pub/"));
    expect(failure).toMatchObject({ code: "unavailable" });
    expect(failure.hint).toContain("sandbox: false");
  });
});
