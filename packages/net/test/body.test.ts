import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { failure, testNet, textOf } from "./world.ts";

const MiB = 1024 * 1024;
const zeros = Buffer.alloc(200 * MiB);
const gzipBomb = gzipSync(zeros, { level: 9 });
const brotliBomb = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });

describe("encodings", () => {
  it("undoes gzip, deflate with and without header, brotli, and two in a row", async () => {
    const { world, net } = await testNet();
    const text = Buffer.from("some text ".repeat(5_000));
    const forms: Record<string, [string, Buffer]> = {
      gzip: ["gzip", gzipSync(text)],
      "x-gzip": ["X-GZIP", gzipSync(text)],
      zlib: ["deflate", deflateSync(text)],
      raw: ["deflate", deflateRawSync(text)],
      br: ["br", brotliCompressSync(text)],
      identity: ["identity", text],
      two: ["gzip, br", brotliCompressSync(gzipSync(text))],
    };
    for (const [name, [encoding, bytes]] of Object.entries(forms)) {
      world.on(`http://s.pub/${name}`, (_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(bytes),
      );
      const response = await net.request({ url: `http://s.pub/${name}` }, {});
      expect(Buffer.from(await response.bytes()).equals(text), name).toBe(true);
      expect(response.sizes(), name).toEqual({ wire: bytes.length, decoded: text.length });
    }
    expect(world.seen[0]?.headers["accept-encoding"]).toMatch(/^gzip, deflate, br/);
  });

  it("takes an empty body with an encoding for empty", async () => {
    const { world, net } = await testNet();
    for (const encoding of ["gzip", "br", "deflate"]) {
      world.on("http://s.pub/", (_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(),
      );
      expect(await textOf(net, "http://s.pub/")).toBe("");
    }
  });

  it.each([
    ["zstd-like", "compress", "compress"],
    ["100 times gzip", Array(100).fill("gzip").join(", "), "gzip"],
    ["three encodings", "gzip, gzip, gzip", "gzip"],
  ])("refuses %s by name", async (_what, encoding, named) => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end("x"),
    );
    const error = await failure(async () => (await net.request({ url: "http://s.pub/" }, {})).bytes());
    expect(error.code).toBe("unsupported");
    expect(error.message).toContain(named);
  });

  it("decodes zstd where the runtime can and names it where not", async () => {
    const zlib: object = await import("node:zlib");
    const { world, net } = await testNet();
    const frame = Buffer.from("28b52ffd0458210000616263e4d5fd1c", "hex");
    world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-encoding": "zstd" }).end(frame),
    );
    if ("createZstdDecompress" in zlib) return;
    const error = await failure(() => textOf(net, "http://s.pub/"));
    expect(error).toMatchObject({ code: "unsupported", details: { encoding: "zstd" } });
  });

  it("never gives half of a damaged or cut stream", async () => {
    const { world, net } = await testNet();
    const packed = gzipSync(Buffer.from("some text ".repeat(50_000)));
    const damaged = Buffer.from(packed);
    damaged.fill(0xff, 200, 260);
    const brotli = brotliCompressSync(Buffer.from("some text ".repeat(50_000)));
    for (const [encoding, bytes] of [
      ["gzip", packed.subarray(0, packed.length - 20)],
      ["gzip", damaged],
      ["br", brotli.subarray(0, brotli.length - 4)],
      ["deflate", Buffer.from("plainly no deflate")],
    ] as const) {
      world.on("http://s.pub/", (_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(bytes),
      );
      expect(await failure(() => textOf(net, "http://s.pub/"))).toMatchObject({ code: "upstream" });
    }
  });
});

describe("bombs", () => {
  const bombs: readonly (readonly [string, string, Buffer])[] = [
    ["gzip", "gzip", gzipBomb],
    ["brotli", "br", brotliBomb],
    ["gzip in gzip", "gzip, gzip", gzipSync(gzipBomb)],
    ["gzip in brotli", "gzip, br", brotliCompressSync(gzipBomb)],
  ];
  it.each(bombs)(
    "%s of 200 MB ends at the limit in flat memory with its socket closed",
    async (_what, encoding, bytes) => {
      const { world, net } = await testNet();
      world.on("http://s.pub/", (_request, response) =>
        response.writeHead(200, { "content-encoding": encoding }).end(bytes),
      );
      const response = await net.request({ url: "http://s.pub/", maxBytes: 5 * MiB }, {});
      const before = process.memoryUsage.rss();
      let peak = before;
      const error = await failure(async () => {
        for await (const _chunk of response.body) peak = Math.max(peak, process.memoryUsage.rss());
      });
      expect(error).toMatchObject({ code: "too_large", details: { maxBytes: 5 * MiB } });
      expect(error.message).toMatch(/\d+ bytes received, \d+ decoded/);
      expect(peak - before).toBeLessThan(5 * MiB + 64 * MiB);
      await expect.poll(() => world.sockets.size).toBe(0);
    },
  );

  it("an endless body ends at the cap", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const fill = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", fill);
      fill();
    });
    const response = await net.request({ url: "http://s.pub/", maxBytes: 2 * MiB }, {});
    expect(await failure(() => response.bytes())).toMatchObject({ code: "too_large" });
    await expect.poll(() => world.sockets.size).toBe(0);
  });

  it("a length announced over the limit is refused before the body", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-length": String(50 * MiB) }).write("x"),
    );
    const response = await net.request({ url: "http://s.pub/", maxBytes: MiB }, {});
    expect(await failure(() => response.bytes())).toMatchObject({
      code: "too_large",
      details: { announcedBytes: 50 * MiB },
    });
  });

  it("header blocks end at 16 KiB, however long they are", async () => {
    const { world, net } = await testNet();
    await world.raw("headers.pub", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const fill = (): void => {
        while (!socket.destroyed && socket.write(`x-filler: ${"y".repeat(8_000)}\r\n`));
      };
      socket.on("drain", fill);
      fill();
    });
    await world.raw("just.pub", (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20 * 1024)}\r\ncontent-length: 0\r\n\r\n`),
    );
    await world.raw("fits.pub", (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(15 * 1024)}\r\ncontent-length: 2\r\n\r\nok`),
    );
    for (const name of ["headers.pub", "just.pub"]) {
      const error = await failure(() => net.request({ url: `http://${name}/` }, {}));
      expect(error.code).toBe("upstream");
      expect(error.message).toMatch(/16 KiB/);
    }
    expect(await textOf(net, "http://fits.pub/")).toBe("ok");
    await expect.poll(() => world.sockets.size).toBeLessThanOrEqual(1);
  });

  it("does not follow 10,000 redirects", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/*", (request, response) =>
      response.writeHead(302, { location: `/${Number(request.url?.slice(1)) + 1}` }).end(),
    );
    expect(await failure(() => net.request({ url: "http://s.pub/1", redirects: 20 }, {}))).toMatchObject({
      code: "upstream",
    });
    expect(world.seen).toHaveLength(21);
    expect(await failure(() => net.request({ url: "http://s.pub/1", redirects: 10_000 }, {}))).toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("broken HTTP", () => {
  it("tells how much came when the body is short", async () => {
    const { world, net } = await testNet();
    await world.raw("short.pub", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n12345"));
    const error = await failure(() => textOf(net, "http://short.pub/"));
    expect(error.code).toBe("upstream");
    expect(error.message).toContain("ended after 5 of 500 bytes");
    const part = await (await net.request({ url: "http://short.pub/" }, {})).prefix(100);
    expect([new TextDecoder().decode(part.bytes), part.complete]).toEqual(["12345", false]);
  });

  it("cuts where Content-Length says", async () => {
    const { world, net } = await testNet();
    await world.raw("long.pub", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345678"));
    expect(await textOf(net, "http://long.pub/")).toBe("12345");
  });

  it("reads on to the end of the connection when no length is given", async () => {
    const { world, net } = await testNet();
    await world.raw("open.pub", (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
    expect(await textOf(net, "http://open.pub/")).toBe("all of it");
  });

  it.each([
    ["HTTP/0.9", "<html>no head at all</html>"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456"],
    ["a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n123456"],
    ["chunks that are none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"],
    ["a flood of interim answers", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(9)],
    ["a cut chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"],
  ])("calls %s an upstream failure", async (_what, bytes) => {
    const { world, net } = await testNet();
    await world.raw("odd.pub", (socket) => socket.end(bytes));
    expect(await failure(() => textOf(net, "http://odd.pub/"))).toMatchObject({ code: "upstream" });
  });

  it("reads over eight interim answers", async () => {
    const { world, net } = await testNet();
    await world.raw("hints.pub", (socket) =>
      socket.end(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(8)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
    expect(await textOf(net, "http://hints.pub/")).toBe("ok");
  });

  it("gives no body for HEAD, 204 and 304", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-length": "1000", "content-encoding": "gzip" }).end(),
    );
    const head = await net.request({ url: "http://s.pub/", method: "HEAD" }, {});
    expect((await head.bytes()).length).toBe(0);
    for (const status of [204, 304]) {
      world.on("http://s.pub/", (_request, response) => response.writeHead(status).end());
      expect((await (await net.request({ url: "http://s.pub/" }, {})).bytes()).length).toBe(0);
    }
  });
});

describe("reading", () => {
  it("gives a prefix and closes what is left", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", "x".repeat(5_000_000));
    const response = await net.request({ url: "http://s.pub/" }, {});
    const { bytes, complete } = await response.prefix(1_000);
    expect([bytes.length, complete]).toEqual([1_000, false]);
    await expect.poll(() => world.sockets.size).toBe(0);
    const whole = await (await net.request({ url: "http://s.pub/" }, {})).prefix(5_000_000);
    expect([whole.bytes.length, whole.complete]).toEqual([5_000_000, true]);
  });

  it("keeps the connection after a short body that nobody wants, and closes it after a long one", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/short", "short");
    world.on("http://s.pub/long", "x".repeat(500_000));
    await (await net.request({ url: "http://s.pub/short" }, {})).discard();
    await (await net.request({ url: "http://s.pub/short" }, {})).discard();
    expect(world.dialled).toHaveLength(1);
    await (await net.request({ url: "http://s.pub/long" }, {})).discard();
    await expect.poll(() => world.sockets.size).toBe(0);
  });

  it("can be read once", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", "text");
    const response = await net.request({ url: "http://s.pub/" }, {});
    await response.bytes();
    await expect(response.bytes()).rejects.toThrow(/once/);
  });

  it("pauses the server while nobody reads", async () => {
    const { world, net } = await testNet();
    let sent = 0;
    world.on("http://s.pub/", (_request, response) => {
      const fill = (): void => {
        while (!response.destroyed && sent < 64 * MiB) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) break;
        }
        if (sent >= 64 * MiB) response.end();
      };
      response.on("drain", fill);
      fill();
    });
    const response = await net.request({ url: "http://s.pub/", maxBytes: 100 * MiB }, {});
    const reader = response.body[Symbol.asyncIterator]();
    await reader.next();
    let last = -1;
    const settled = (): boolean => {
      const same = sent === last;
      last = sent;
      return same;
    };
    await expect.poll(settled, { interval: 200, timeout: 20_000 }).toBe(true);
    expect(sent).toBeLessThan(32 * MiB);
    let got = 0;
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) got += next.value.length;
    expect(got).toBeGreaterThan(60 * MiB);
  });
});
