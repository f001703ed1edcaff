import { once } from "node:events";
import { connect } from "node:net";
import { toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { type FixtureLog, fixtureTools } from "@toolhaft/testing/fixture-tools";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type HttpOptions, type HttpServing, serveHttp } from "../src/http.ts";
import { callBody, goodHeaders, initialize, type RawRequest, rawRequest } from "./http-request.ts";

const workspace = await tempWorkspace();
const log: FixtureLog = { ran: [] };
const lines: string[] = [];
const servings: HttpServing[] = [];

async function serve(options: HttpOptions = {}): Promise<HttpServing> {
  const serving = await serveHttp(toolset(fixtureTools({ log })), {
    directory: workspace.directory,
    onError: ({ message }) => void lines.push(message),
    ...options,
  });
  servings.push(serving);
  return serving;
}

afterAll(async () => {
  await Promise.all(servings.map((serving) => serving.close()));
  await workspace.remove();
});

describe("what is refused before anything runs", () => {
  let serving: HttpServing;
  const tokenOf = () => serving.token ?? "";
  beforeAll(async () => {
    serving = await serve();
  });
  afterEach(() => expect(log.ran).toEqual([]));
  const send = (raw: RawRequest) =>
    rawRequest(serving.url, { body: callBody("echo", { text: "ran" }), ...raw, headers: { ...raw.headers } });
  const good = (more: Record<string, string> = {}) => goodHeaders(tokenOf(), more);

  it.each([
    ["a name that a web page made point here", "evil.example"],
    ["a name that ends like ours", "evil-localhost"],
    ["ours with something before it", "evil.example.localhost"],
    ["userinfo", "localhost@evil.example"],
    ["userinfo before ours", "evil.example@localhost"],
    ["nothing", ""],
    ["a path", "localhost/x"],
    ["two names", "localhost, evil.example"],
    ["this machine's other address", "0.0.0.0"],
    ["a number for an address", "2130706433"],
  ])("http-1: a Host of %s: 403, whatever the token", async (_what, host) => {
    const answer = await send({ headers: good({ host }) });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text).error.message).toBe("this Host is not allowed here");
  });

  it("refuses a request with two Host headers", async () => {
    const socket = connect(Number(new URL(serving.url).port), "127.0.0.1");
    const body = callBody("echo", { text: "ran" });
    const lines = Object.entries(good()).map(([name, value]) => `${name}: ${value}`);
    socket.write(
      [
        "POST /mcp HTTP/1.1",
        "host: localhost",
        "host: evil.example",
        ...lines,
        `content-length: ${body.length}`,
        "",
        body,
      ].join("\r\n"),
    );
    const [head] = await once(socket, "data");
    socket.destroy();
    // Node's own parser may refuse it first.
    expect(String(head)).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it("headers that come drop by drop and never end: 408 or a closed connection, and others are served meanwhile", async () => {
    const socket = connect(Number(new URL(serving.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokenOf()}\r\n`);
    let drops = 0;
    const drip = setInterval(() => socket.write(`x-${drops++}: a\r\n`), 500);
    let head = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      head += text;
    });
    // It goes on writing into a connection that may be reset; what counts is that it ends.
    socket.on("error", () => undefined);
    expect((await send({ headers: good(), body: initialize })).status).toBe(200);
    await once(socket, "close");
    clearInterval(drip);
    expect(head).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(drops).toBeGreaterThan(0);
  });

  it.each(["127.0.0.1", "localhost", "[::1]", "LOCALHOST", "localhost:9"])(
    "takes the loopback name %s",
    async (host) => {
      expect((await send({ headers: good({ host }), body: initialize })).status).toBe(200);
    },
  );

  it.each(["null", "https://evil.example", "http://localhost", "file://", ""])(
    "refuses the Origin %s with 403 and without CORS headers",
    async (origin) => {
      const answer = await send({ headers: good({ origin }) });
      expect(answer.status).toBe(403);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    },
  );

  it.each([
    ["none", undefined],
    ["a wrong one", `Bearer ${"x".repeat(43)}`],
    ["an empty one", "Bearer "],
    ["one of another scheme", "Basic YTpi"],
    ["a huge one", `Bearer ${"x".repeat(10_000)}`],
  ])("token: %s: 401 with the challenge", async (_what, authorization) => {
    const headers = { ...goodHeaders(undefined), ...(authorization !== undefined && { authorization }) };
    const answer = await send({ headers });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
  });

  it("token: one with a part too much or too little: 401", async () => {
    for (const token of [`${tokenOf()}x`, tokenOf().slice(1), `${tokenOf()} ${tokenOf()}`])
      expect((await send({ headers: goodHeaders(token) })).status).toBe(401);
  });

  it("looks at Host, Origin, token, path, method, media type and size in this order", async () => {
    const worst = { host: "evil.example", origin: "null", "content-type": "text/plain", "content-length": "5000000" };
    const request = async (headers: Record<string, string>, path = "/other", method = "PUT") =>
      (await send({ method, path, headers, body: (raw) => raw.flushHeaders() })).status;
    const { host: _host, ...originNext } = worst;
    const { origin: _origin, ...tokenNext } = originNext;
    const authorization = `Bearer ${tokenOf()}`;
    expect(await request(worst)).toBe(403);
    expect(await request(originNext)).toBe(403);
    expect(await request(tokenNext)).toBe(401);
    expect(await request({ ...tokenNext, authorization })).toBe(404);
    expect(await request({ ...tokenNext, authorization }, "/mcp")).toBe(405);
    expect(await request({ ...tokenNext, authorization }, "/mcp?x=1", "POST")).toBe(415);
    expect(await request({ ...tokenNext, authorization, "content-type": "application/json" }, "/mcp", "POST")).toBe(
      413,
    );
  });

  it.each(["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""])(
    "a body of the type %s: 415",
    async (type) => {
      expect((await send({ headers: good({ "content-type": type }) })).status).toBe(415);
    },
  );

  it("an endless body: 413, and its rest is not read", async () => {
    let written = 0;
    const answer = await send({
      headers: good(),
      body(raw) {
        raw.on("error", () => undefined);
        const piece = "x".repeat(65_536);
        const write = () => {
          while (!raw.destroyed && written < 200 * 1_024 * 1_024) {
            written += piece.length;
            if (!raw.write(piece)) return void raw.once("drain", write);
          }
        };
        raw.write('{"jsonrpc":"2.0","id":1,"method":"');
        write();
      },
    });
    expect(answer.status).toBe(413);
    expect(written).toBeLessThan(64 * 1_024 * 1_024);
  });

  it.each([
    ["no body", "", 400],
    ["broken JSON", '{"jsonrpc":', 400],
    ["JSON that is no message", "[1,2]", 400],
    ["null", "null", 400],
    ["a message deep as a well", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, 400],
    ["a call without a session", callBody("echo", { text: "ran" }), 400],
    ["a batch of initialize", `[${initialize},${initialize}]`, 400],
  ])("%s: %3$i", async (_what, body, status) => {
    expect((await send({ headers: good(), body })).status).toBe(status);
  });

  it("ten thousand headers: 431, and the server lives", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, "y"]));
    expect((await send({ headers: { ...good(), ...many } })).status).toBe(431);
    expect((await send({ headers: good(), body: initialize })).status).toBe(200);
  });

  it("GET and DELETE without a session, and of a session that never was", async () => {
    for (const method of ["GET", "DELETE"]) {
      expect((await send({ method, headers: good(), body: "" })).status).toBe(400);
      const foreign = good({ "mcp-session-id": "0198c0de-0000-4000-8000-000000000000" });
      expect((await send({ method, headers: foreign, body: "" })).status).toBe(404);
    }
    expect((await send({ headers: good({ "mcp-session-id": "nope" }) })).status).toBe(404);
  });

  it("tells the log of each kind once, and neither token nor input", async () => {
    lines.length = 0;
    const other = await serve();
    for (let index = 0; index < 20; index++)
      await rawRequest(other.url, { headers: { host: "evil.example", authorization: "Bearer secret-of-a-client" } });
    expect(lines).toEqual(["a request was refused (403): this Host is not allowed here"]);
  });
});

describe("what has to be said on purpose", () => {
  const long = "t".repeat(32);
  it.each<[string, HttpOptions, RegExp]>([
    ["another address", { host: "0.0.0.0" }, /TOOLHAFT_TOKEN.*--allowed-host/],
    ["another address with a token only", { host: "0.0.0.0", token: long }, /--allowed-host/],
    ["another address with a name only", { host: "::", allowedHosts: ["a.example"] }, /TOOLHAFT_TOKEN/],
    ["another address without a token", { host: "0.0.0.0", allowedHosts: ["a"], auth: false }, /loopback only/],
    ["a short token", { token: "short" }, /at least 32 bytes, this one has 5/],
    ["a token with a blank", { token: `${long} x` }, /printable ASCII/],
    ["an odd port", { port: 70_000 }, /0 to 65535/],
    ["a host name that is none", { allowedHosts: ["http://a"] }, /"http:\/\/a" is no host name/],
    ["an origin with a path", { allowedOrigins: ["https://a/b"] }, /is no origin/],
    ["the origin null", { allowedOrigins: ["null"] }, /is no origin/],
  ])("http-3: %s", async (_what, options, message) => {
    await expect(serve(options)).rejects.toThrow(TypeError);
    await expect(serve(options)).rejects.toThrow(message);
  });

  it("listens on loopback on a free port and makes a token", async () => {
    const { url, token } = await serve();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(Buffer.byteLength(token ?? "")).toBeGreaterThanOrEqual(32);
    expect((await serve()).token).not.toBe(token);
  });

  it("says that a port is taken", async () => {
    const { port } = new URL((await serve()).url);
    await expect(serve({ port: Number(port) })).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+: EADDRINUSE/);
  });

  it("serves without a token when told to, and still looks at Host and Origin", async () => {
    const { url, token } = await serve({ auth: false });
    expect(token).toBeUndefined();
    const headers = goodHeaders(undefined);
    expect((await rawRequest(url, { headers, body: initialize })).status).toBe(200);
    expect((await rawRequest(url, { headers: { ...headers, host: "evil.example" }, body: initialize })).status).toBe(
      403,
    );
    expect((await rawRequest(url, { headers: { ...headers, origin: "null" }, body: initialize })).status).toBe(403);
  });

  it("takes the names and origins it was told, with CORS for those pages", async () => {
    const { url } = await serve({
      host: "0.0.0.0",
      allowedHosts: ["tools.example:8443", "other.example"],
      allowedOrigins: ["https://app.example"],
      token: long,
    });
    const at = (host: string, more: Record<string, string> = {}) =>
      rawRequest(url.replace("0.0.0.0", "127.0.0.1"), {
        headers: goodHeaders(long, { host, ...more }),
        body: initialize,
      });
    expect((await at("tools.example:8443")).status).toBe(200);
    expect((await at("tools.example")).status).toBe(403);
    expect((await at("other.example:1")).status).toBe(200);
    expect((await at("localhost")).status).toBe(403);
    const page = await at("other.example", { origin: "https://app.example" });
    expect(page.status).toBe(200);
    expect(page.headers["access-control-allow-origin"]).toBe("https://app.example");
    expect((await at("other.example", { origin: "https://app.example.evil" })).status).toBe(403);
    const preflight = await rawRequest(url.replace("0.0.0.0", "127.0.0.1"), {
      method: "OPTIONS",
      headers: { host: "other.example", origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toContain("authorization");
  });
});
