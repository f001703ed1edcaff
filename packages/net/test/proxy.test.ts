import { createServer, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Blocked, FilteringProxy, NetOptions } from "../src/index.ts";
import { bypasses, createOutgoingProxy } from "../src/proxy-out.ts";
import { parseUrl } from "../src/url.ts";
import { failure, type TestNet, testNet, textOf } from "./world.ts";

interface ForwardProxy {
  url: string;
  /** `GET http://…` and `CONNECT host:port` as they came. */
  asked: string[];
  answer: { status: number; headers: Record<string, string> } | undefined;
  logins: (string | undefined)[];
}

/** An ordinary forward proxy on loopback that leads every name to the test's public servers. */
async function forwardProxy(test: () => TestNet): Promise<ForwardProxy> {
  const proxy: ForwardProxy = { url: "", asked: [], answer: undefined, logins: [] };
  const sockets = new Set<Socket>();
  const dial = (port: number) => test().world.dial({ address: "203.0.113.10", port }, new AbortController().signal);
  const server = createServer((request, response) => {
    proxy.asked.push(`${request.method} ${request.url}`);
    proxy.logins.push(request.headers["proxy-authorization"]);
    if (proxy.answer !== undefined)
      return void response.writeHead(proxy.answer.status, proxy.answer.headers).end("by the proxy");
    const url = new URL(request.url ?? "");
    void dial(80).then((socket) => {
      const passed = httpRequest({
        method: request.method,
        path: url.pathname,
        headers: { host: url.host },
        createConnection: () => socket,
      });
      passed.on("response", (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      passed.end();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("connect", (request, socket) => {
    proxy.asked.push(`CONNECT ${request.url}`);
    proxy.logins.push(request.headers["proxy-authorization"]);
    if (proxy.answer !== undefined) {
      const headers = Object.entries(proxy.answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      return void socket.end(`HTTP/1.1 ${proxy.answer.status} No\r\n${headers.join("")}\r\n`);
    }
    void dial(Number(request.url?.split(":").at(-1))).then((upstream) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
      socket.on("error", () => upstream.destroy());
      upstream.on("error", () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  proxy.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return proxy;
}

async function throughProxy(options: NetOptions = {}, login = ""): Promise<{ test: TestNet; proxy: ForwardProxy }> {
  let test: TestNet | undefined;
  const proxy = await forwardProxy(() => test ?? expect.fail("too early"));
  const url = login === "" ? proxy.url : proxy.url.replace("//", `//${login}@`);
  test = await testNet(
    { proxy: { url, noProxy: ["direct.pub"] }, ...options },
    {
      secure: ["s.pub"],
      zone: [
        ["inside.pub", ["10.0.0.8"]],
        ["elsewhere.pub", "nxdomain"],
      ],
    },
  );
  return { test, proxy };
}

describe("an outgoing proxy", () => {
  it("forwards http as a whole URL and https by CONNECT, with the login in its URL", async () => {
    const { test, proxy } = await throughProxy({}, "me:p%40ss");
    test.world.on("http://s.pub/a", "plain");
    test.world.on("https://s.pub/b", "secure");
    expect(await textOf(test.net, "http://s.pub/a")).toBe("plain");
    expect(await textOf(test.net, "https://s.pub/b")).toBe("secure");
    expect(proxy.asked).toEqual(["GET http://s.pub/a", "CONNECT s.pub:443"]);
    expect(proxy.logins).toEqual(Array(2).fill(`Basic ${Buffer.from("me:p@ss").toString("base64")}`));
    expect(test.world.seen.every(({ headers }) => headers["proxy-authorization"] === undefined)).toBe(true);
  });

  it("still refuses literals, names and names that resolve privately", async () => {
    const { test, proxy } = await throughProxy();
    for (const url of [
      "http://127.0.0.1/",
      "http://localhost/",
      "http://inside.pub/",
      "https://inside.pub/",
      "http://169.254.169.254/",
    ]) {
      expect(await failure(() => test.net.request({ url }, {})), url).toMatchObject({ code: "denied" });
    }
    expect(proxy.asked).toEqual([]);
  });

  it("passes a name on that cannot be resolved here, and says so", async () => {
    const { test } = await throughProxy();
    test.world.on("http://elsewhere.pub/", "elsewhere");
    const response = await test.net.request({ url: "http://elsewhere.pub/" }, {});
    expect(response.notes.map(({ code }) => code)).toEqual(["resolved_by_proxy"]);
    await response.discard();
  });

  it("goes directly where NO_PROXY says so", async () => {
    const { test, proxy } = await throughProxy();
    test.world.on("http://direct.pub/", "direct");
    expect(await textOf(test.net, "http://direct.pub/")).toBe("direct");
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    [407, {}],
    [403, { "x-deny-reason": "host not on the list" }],
    [403, { via: "1.1 127.0.0.1" }],
  ])("tells the proxy's %i from the site's", async (status, headers) => {
    const { test, proxy } = await throughProxy();
    proxy.answer = { status, headers };
    for (const url of ["http://s.pub/", "https://s.pub/"]) {
      const error = await failure(() => test.net.request({ url }, {}));
      expect(error.code, url).toBe("upstream");
      expect(error.message, url).toContain("refused by the proxy, not by the site");
    }
  });

  it("leaves a 403 of the site alone", async () => {
    const { test } = await throughProxy();
    test.world.on("http://s.pub/", (_request, response) => response.writeHead(403).end("the site's own"));
    const response = await test.net.request({ url: "http://s.pub/" }, {});
    expect(response.status).toBe(403);
    await response.discard();
  });
});

describe("the environment", () => {
  const chosen = (env: Record<string, string>, url: string): string | undefined =>
    createOutgoingProxy("environment", env).choose(parseUrl(url))?.headers["proxy-authorization"];
  const login = (name: string): string => `Basic ${Buffer.from(`${name}:x`).toString("base64")}`;

  it("is off by default, even when the variables are set, and a failed connection says so", async () => {
    expect(
      createOutgoingProxy(undefined, { HTTP_PROXY: "http://p:1" }).choose(parseUrl("http://a.pub/")),
    ).toBeUndefined();
    expect(createOutgoingProxy(undefined, { HTTP_PROXY: "http://p:1" }).unused).toBe(true);
    expect(createOutgoingProxy("none", {}).unused).toBe(false);
  });

  it("takes the variable of the scheme, lower case first, ALL_PROXY last", () => {
    expect(chosen({ HTTP_PROXY: "http://h:x@p", HTTPS_PROXY: "http://s:x@p" }, "http://a.pub/")).toBe(login("h"));
    expect(chosen({ HTTP_PROXY: "http://h:x@p", HTTPS_PROXY: "http://s:x@p" }, "https://a.pub/")).toBe(login("s"));
    expect(chosen({ HTTP_PROXY: "http://h:x@p", http_proxy: "http://l:x@p" }, "http://a.pub/")).toBe(login("l"));
    expect(chosen({ ALL_PROXY: "http://a:x@p" }, "https://a.pub/")).toBe(login("a"));
    expect(chosen({ HTTP_PROXY: "http://h:x@p", REQUEST_METHOD: "GET" }, "http://a.pub/")).toBeUndefined();
    expect(chosen({ HTTP_PROXY: "http://h:x@p", NO_PROXY: "b.pub, a.pub" }, "http://a.pub/")).toBeUndefined();
  });

  it.each([
    ["*", "http://a.pub/", true],
    ["a.pub", "http://a.pub/", true],
    ["a.pub", "http://x.a.pub/", true],
    ["a.pub", "http://nota.pub/", false],
    [".a.pub", "http://x.a.pub/", true],
    ["*.a.pub", "http://x.a.pub/", true],
    ["a.pub:8080", "http://a.pub:8080/", true],
    ["a.pub:8080", "http://a.pub/", false],
    ["10.0.0.0/8", "http://10.1.2.3/", true],
    ["10.0.0.0/8", "http://11.1.2.3/", false],
    ["10.1.2.3", "http://10.1.2.3/", true],
    ["[fd00::1]", "http://[fd00::1]/", true],
    ["2.3", "http://10.1.2.3/", false],
    ["", "http://a.pub/", false],
  ])("NO_PROXY %j for %s: %s", (entry, url, expected) => expect(bypasses(entry, parseUrl(url))).toBe(expected));

  it("refuses a proxy of another kind", () => {
    expect(() => createOutgoingProxy({ url: "socks5://p:1" })).toThrow(/socks5/);
  });
});

/** A request by hand through the filtering proxy: the answer as text. */
function ask(proxy: FilteringProxy, lines: string, login = `${proxy.username}:${proxy.password}`): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(proxy.server);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (/^HTTP\/1\.1 200 Connection established/.test(text) && !text.includes("private"))
        socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    });
    socket.on("error", reject).on("close", () => resolve(text));
    const auth = login === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(login).toString("base64")}\r\n`;
    socket.write(`${lines}\r\n${auth}Connection: close\r\n\r\n`);
  });
}

describe("the filtering proxy", () => {
  it("passes plain requests and tunnels to public places and counts the bytes", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/a", "plain text");
    world.on("http://x/", "in the tunnel");
    const proxy = await net.openProxy({});
    expect(await ask(proxy, "GET http://s.pub/a HTTP/1.1\r\nHost: other.pub\r\nX-Own: 1")).toContain("plain text");
    expect(world.seen[0]).toMatchObject({ url: "http://s.pub/a", headers: { "x-own": "1", host: "s.pub" } });
    expect(world.seen[0]?.headers["proxy-authorization"]).toBeUndefined();
    expect(await ask(proxy, "CONNECT s.pub:80 HTTP/1.1\r\nHost: s.pub:80")).toContain("in the tunnel");
    expect(proxy.bytes()).toBeGreaterThan(20);
    await proxy.close();
  });

  it("answers 407 to everything without the password", async () => {
    const { world, net } = await testNet();
    const proxy = await net.openProxy({});
    for (const login of ["", "toolhaft:wrong", "x:y"]) {
      for (const lines of ["GET http://s.pub/ HTTP/1.1\r\nHost: s.pub", "CONNECT s.pub:443 HTTP/1.1\r\nHost: s.pub"])
        expect(await ask(proxy, lines, login)).toMatch(/^HTTP\/1\.1 407/);
    }
    expect(world.dns.queries).toEqual([]);
  });

  it.each([
    ["GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: s.pub", "address.loopback"],
    ["GET http://localhost/ HTTP/1.1\r\nHost: s.pub", "name.local"],
    ["GET http://inside.pub/ HTTP/1.1\r\nHost: s.pub", "address.private"],
    ["CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: s.pub", "address.loopback"],
    ["CONNECT 127.1:443 HTTP/1.1\r\nHost: s.pub", "address.loopback"],
    ["CONNECT [::1]:443 HTTP/1.1\r\nHost: s.pub", "address.loopback"],
    ["CONNECT inside.pub:443 HTTP/1.1\r\nHost: s.pub", "address.private"],
    ["CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: s.pub", "address.metadata"],
    ["CONNECT s.pub:8443 HTTP/1.1\r\nHost: s.pub", "port"],
    ["CONNECT u@s.pub:443 HTTP/1.1\r\nHost: s.pub", "authority"],
  ])("refuses %j", async (lines, rule) => {
    const { world, net } = await testNet({}, { zone: [["inside.pub", ["10.0.0.8"]]] });
    const blocked: Blocked[] = [];
    const proxy = await net.openProxy({}, { onBlocked: (each) => blocked.push(each) });
    expect(await ask(proxy, lines.replace("PORT", String(world.private.port)))).toMatch(/^HTTP\/1\.1 403/);
    expect(blocked.map((each) => each.rule)).toEqual([rule]);
    expect(world.private.connections).toEqual([]);
  });

  it("opens the page's own port", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub:8080/", "on its port");
    const proxy = await net.openProxy({}, { ports: [8080] });
    expect(await ask(proxy, "GET http://s.pub:8080/ HTTP/1.1\r\nHost: s.pub")).toContain("on its port");
  });

  it("asks the gate once for each origin, at most 40 of them, and goes on after a refusal", async () => {
    const { world, net } = await testNet();
    world.on("s.pub/*", "ok");
    const asked: string[] = [];
    const ask40 = async ({ resources }: { resources: readonly string[] }) => {
      asked.push(...resources);
      if (resources[0]?.includes("no.pub") === true)
        throw new (await import("@toolhaft/core")).ToolError("denied", "no");
    };
    const proxy = await net.openProxy({ ask: ask40 });
    for (let call = 0; call < 2; call += 1)
      expect(await ask(proxy, "GET http://s.pub/x HTTP/1.1\r\nHost: s.pub")).toMatch(/^HTTP\/1\.1 200/);
    expect(await ask(proxy, "GET http://no.pub/x HTTP/1.1\r\nHost: s.pub")).toMatch(/^HTTP\/1\.1 403/);
    expect(asked).toEqual(["http://s.pub:80/", "http://no.pub:80/"]);
    for (let host = 0; host < 38; host += 1) await ask(proxy, `GET http://h${host}.pub/ HTTP/1.1\r\nHost: x`);
    expect(await ask(proxy, "GET http://late.pub/ HTTP/1.1\r\nHost: x")).toMatch(/^HTTP\/1\.1 403/);
    expect(asked).toHaveLength(40);
  });

  it("stops when its bytes are used up", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", "x".repeat(5_000_000));
    const proxy = await net.openProxy({}, { maxBytes: 100_000 });
    const got = await ask(proxy, "GET http://s.pub/ HTTP/1.1\r\nHost: s.pub").catch(() => "");
    expect(got.length).toBeLessThan(4_000_000);
  });

  it("ends with its signal and with the client", async () => {
    const { world, net } = await testNet();
    await world.raw("mute.pub", () => undefined);
    const controller = new AbortController();
    const proxy = await net.openProxy({ signal: controller.signal });
    const call = ask(proxy, "CONNECT mute.pub:80 HTTP/1.1\r\nHost: x").catch(() => "");
    await expect.poll(() => world.sockets.size).toBe(1);
    controller.abort();
    await call;
    await expect.poll(() => world.sockets.size).toBe(0);
    await expect(ask(proxy, "GET http://s.pub/ HTTP/1.1\r\nHost: x")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const other = await net.openProxy({});
    await net.close();
    await expect(ask(other, "GET http://s.pub/ HTTP/1.1\r\nHost: x")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
