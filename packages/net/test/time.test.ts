import type { Clock } from "@toolhaft/core";
import { describe, expect, it } from "vitest";
import { createNet, parseRetryAfter } from "../src/index.ts";
import { backoffMs } from "../src/retry.ts";
import { failure, testNet, textOf } from "./world.ts";

describe("the deadline", () => {
  it("covers every phase and says which one it was", async () => {
    const { world, net } = await testNet(
      {},
      {
        secure: ["s.pub"],
        zone: [
          ["silent.pub", "silent"],
          ["dead.pub", ["203.0.113.9"]],
        ],
      },
    );
    await world.raw("mute.pub", () => undefined);
    await world.raw("drip.pub", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    await world.raw("slowheaders.pub", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x: y\r\n"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    world.on("http://busy.pub/", (_request, response) => response.writeHead(503).end());
    const phases: Record<string, string> = {
      "http://silent.pub/": "the DNS server",
      "http://dead.pub/": "the connection",
      "https://mute.pub/": "the TLS handshake",
      "http://mute.pub/": "the response",
      "http://slowheaders.pub/": "the response",
      "http://drip.pub/": "the body",
    };
    for (const [url, phase] of Object.entries(phases)) {
      const started = performance.now();
      const error = await failure(async () => (await net.request({ url, timeoutMs: 400 }, {})).bytes());
      expect(error, url).toMatchObject({ code: "timeout", details: { phase } });
      expect(performance.now() - started, url).toBeGreaterThanOrEqual(380);
    }
    await expect.poll(() => world.sockets.size).toBe(0);
  });

  it("limits the wait for headers by itself", async () => {
    const { world, net } = await testNet();
    await world.raw("mute.pub", () => undefined);
    const error = await failure(() =>
      net.request({ url: "http://mute.pub/", headersTimeoutMs: 200, timeoutMs: 60_000 }, {}),
    );
    expect(error).toMatchObject({ code: "timeout" });
    await expect.poll(() => world.sockets.size).toBe(0);
  });

  it("ends at once when the signal fires, in every phase, and closes the socket", async () => {
    const { world, net } = await testNet(
      {},
      {
        zone: [
          ["silent.pub", "silent"],
          ["dead.pub", ["203.0.113.9"]],
        ],
      },
    );
    await world.raw("mute.pub", () => undefined);
    await world.raw("half.pub", (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"));
    for (const url of [
      "http://silent.pub/",
      "http://dead.pub/",
      "https://mute.pub/",
      "http://mute.pub/",
      "http://half.pub/",
    ]) {
      const controller = new AbortController();
      const call = failure(async () =>
        (await net.request({ url, timeoutMs: 60_000 }, { signal: controller.signal })).bytes(),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      controller.abort();
      expect(await call, url).toMatchObject({ code: "cancelled" });
    }
    await expect.poll(() => world.sockets.size).toBe(0);
  });

  it("does nothing when the signal has fired already", async () => {
    const { world, net } = await testNet();
    expect(await failure(() => net.request({ url: "http://s.pub/" }, { signal: AbortSignal.abort() }))).toMatchObject({
      code: "cancelled",
    });
    expect(
      await failure(() =>
        net.request({ url: "http://s.pub/" }, { signal: AbortSignal.abort(new DOMException("late", "TimeoutError")) }),
      ),
    ).toMatchObject({ code: "timeout" });
    expect(world.dns.queries).toEqual([]);
  });
});

describe("retries", () => {
  it.each([408, 425, 429, 500, 502, 503, 504])(
    "tries a GET three times after %i and gives the last answer",
    async (status) => {
      const { world, net } = await testNet();
      world.on("http://s.pub/", (_request, response) => response.writeHead(status).end("busy"));
      const response = await net.request({ url: "http://s.pub/" }, {});
      expect(response.status).toBe(status);
      await response.discard();
      expect(world.seen).toHaveLength(3);
    },
  );

  it("gives the answer that comes in time", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) =>
      world.seen.length < 3 ? response.writeHead(500).end() : response.end("third"),
    );
    expect(await textOf(net, "http://s.pub/")).toBe("third");
  });

  it("tries again after a reset before the headers, and never after the body began", async () => {
    const { world, net } = await testNet();
    let connections = 0;
    await world.raw("reset.pub", (socket) => {
      connections += 1;
      socket.once("data", () =>
        connections < 3 ? socket.destroy() : socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
      );
    });
    expect(await textOf(net, "http://reset.pub/")).toBe("ok");
    expect(connections).toBe(3);
    let cut = 0;
    await world.raw("cut.pub", (socket) => {
      cut += 1;
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"));
    });
    expect(await failure(() => textOf(net, "http://cut.pub/"))).toMatchObject({ code: "upstream" });
    expect(cut).toBe(1);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])("sends %s once", async (method) => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) => response.writeHead(503, { "retry-after": "1" }).end());
    const response = await net.request({ url: "http://s.pub/", method, body: "x" }, {});
    expect(response.status).toBe(503);
    await response.discard();
    expect(world.seen).toHaveLength(1);
  });

  it("does not try again what the site or the policy refused", async () => {
    const { world, net } = await testNet();
    for (const status of [400, 401, 403, 404, 410, 501]) {
      world.on("http://s.pub/", (_request, response) => response.writeHead(status).end());
      await (await net.request({ url: "http://s.pub/" }, {})).discard();
    }
    expect(world.seen).toHaveLength(6);
  });

  it("tells a long Retry-After at once and waits for a short one", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/long", (_request, response) =>
      response.writeHead(503, { "retry-after": "3600" }).end("later"),
    );
    const error = await failure(() => net.request({ url: "http://s.pub/long" }, {}));
    expect(error).toMatchObject({
      code: "unavailable",
      retryable: true,
      details: { retryAfterMs: 3_600_000, status: 503, body: "later" },
    });
    expect(world.seen).toHaveLength(1);
    world.on("http://s.pub/short", (_request, response) =>
      world.seen.length < 3 ? response.writeHead(429, { "retry-after": "1" }).end() : response.end("now"),
    );
    const started = performance.now();
    expect(await textOf(net, "http://s.pub/short")).toBe("now");
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
    const late = await failure(() => net.request({ url: "http://s.pub/long", timeoutMs: 2_000 }, {}));
    expect(late.code).toBe("unavailable");
  });

  it("reads Retry-After as seconds or date and takes zero, negative and nonsense for absent", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(parseRetryAfter("120", now)).toBe(120_000);
    expect(parseRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30_000);
    for (const text of [undefined, "", "0", "-5", "soon", "1.5", "Wed, 31 Dec 2025 00:00:00 GMT", "99999999999999"])
      expect(parseRetryAfter(text, now), text).toBeUndefined();
  });

  it("waits with full jitter between nothing and the doubled step, at most 8 s", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => backoffMs(attempt, () => 1))).toEqual([
      250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000,
    ]);
    expect(backoffMs(5, () => 0)).toBe(0);
  });
});

describe("pace", () => {
  it("keeps starts to one origin apart, first come first served", async () => {
    const { world, net } = await testNet({ minIntervalMs: 150 });
    const starts: number[] = [];
    world.on("http://s.pub/*", (_request, response) => {
      starts.push(performance.now());
      response.end();
    });
    await Promise.all(
      [1, 2, 3].map(async (part) => (await net.request({ url: `http://s.pub/${part}` }, {})).discard()),
    );
    expect(world.seen.map(({ url }) => url.slice(-1))).toEqual(["1", "2", "3"]);
    const [first = 0, , third = 0] = starts;
    expect(third - first).toBeGreaterThanOrEqual(250);
  });

  it("tells a wait that would pass the deadline", async () => {
    const clock: Clock = { now: () => 1_000_000 };
    const { world, net } = await testNet({ minIntervalMs: 5_000, clock });
    world.on("http://s.pub/", "text");
    expect(await textOf(net, "http://s.pub/")).toBe("text");
    expect(await failure(() => net.request({ url: "http://s.pub/", timeoutMs: 1_000 }, {}))).toMatchObject({
      code: "unavailable",
      details: { retryAfterMs: 5_000 },
    });
  });
});

describe("connections", () => {
  it("opens at most six to one origin and lets the others wait", async () => {
    const { world, net } = await testNet();
    const waiting: (() => void)[] = [];
    world.on("http://s.pub/*", (_request, response) => void waiting.push(() => response.end("done")));
    const calls = Array.from({ length: 10 }, (_, index) => textOf(net, `http://s.pub/${index}`));
    await expect.poll(() => waiting.length).toBe(6);
    expect(world.sockets.size).toBe(6);
    for (let released = 0; released < 10; released += 1) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.();
    }
    expect(await Promise.all(calls)).toEqual(Array(10).fill("done"));
    expect(world.dialled).toHaveLength(6);
  });

  it("close ends what runs and refuses what comes", async () => {
    const { world, net } = await testNet();
    await world.raw("mute.pub", () => undefined);
    const call = failure(() => net.request({ url: "http://mute.pub/" }, {}));
    await expect.poll(() => world.sockets.size).toBe(1);
    await net.close();
    expect(await call).toMatchObject({ code: "cancelled" });
    await expect.poll(() => world.sockets.size).toBe(0);
    expect(await failure(() => net.request({ url: "http://mute.pub/" }, {}))).toMatchObject({ code: "unavailable" });
    await net.close();
  });

  it("closes an idle connection that its server closed, without failing the next call", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", "text");
    for (let call = 0; call < 30; call += 1) {
      expect(await textOf(net, "http://s.pub/")).toBe("text");
      for (const socket of world.sockets) socket.destroy();
    }
  });
});

describe("options", () => {
  it.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { maxBytes: -1 },
    { redirects: -1 },
    { redirects: 1.5 },
    { method: "CONNECT" },
    { method: "GE T" },
    { range: { start: 5, validator: 'W/"x"' } },
  ])("refuses %j", async (part) => {
    await using net = createNet();
    expect(await failure(() => net.request({ url: "http://s.pub/", ...part }, {}))).toMatchObject({
      code: "invalid_input",
    });
  });
});
