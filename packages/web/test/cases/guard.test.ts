import { createPolicy } from "@toolhaft/core";
import { deadAddress, publicAddress } from "@toolhaft/testing/web-world";
import { describe, expect, it } from "vitest";
import { failureOf, pageOf, type TestWeb, testWeb } from "../web-world.ts";

/** The URL itself, with port and path, and as the target of a redirect: always the same refusal, never a connection. */
async function refused(test: TestWeb, url: string, rule?: string): Promise<void> {
  test.world.on("http://s.pub/go", (_request, response) => response.writeHead(302, { location: url }).end());
  for (const start of [url, "http://s.pub/go"]) {
    const failure = failureOf(await test.fetch(start));
    expect(failure.code, `${start} ${failure.message}`).toBe("denied");
    expect(failure.details, start).toMatchObject({ by: "policy", ...(rule === undefined ? {} : { rule }) });
  }
  expect(test.world.private.connections).toEqual([]);
}

async function invalid(test: TestWeb, url: string): Promise<string> {
  const dialled = test.world.dialled.length;
  const asked = test.world.dns.queries.length;
  const failure = failureOf(await test.fetch(url));
  expect(failure.code, url).toBe("invalid_input");
  expect(test.world.dialled).toHaveLength(dialled);
  expect(test.world.dns.queries).toHaveLength(asked);
  return failure.text;
}

/** The same host with a port and a path. */
function variants(url: string): string[] {
  const bare = url.replace(/\/[^/]*$/, "");
  return [url, `${bare}:8080/`, `${bare}/a/b?c=d`];
}

describe("v4", () => {
  const spellings: readonly (readonly [string, string, string])[] = [
    ["v4-1", "http://127.1/", "address.loopback"],
    ["v4-2", "http://2130706433/", "address.loopback"],
    ["v4-3", "http://0x7f.0x0.0x0.0x1/", "address.loopback"],
    ["v4-4", "http://017700000001/", "address.loopback"],
    ["v4-5", "http://127.0.0.1./", "address.loopback"],
  ];
  it.each(spellings)("%s: %s is refused", async (_id, url, rule) => {
    const test = await testWeb();
    for (const variant of variants(url)) await refused(test, variant, rule);
  });

  it("v4-6: a metadata address is refused without a word about allow", async () => {
    const test = await testWeb();
    await refused(test, "http://0xa9fea9fe/latest/meta-data/", "address.metadata");
    const { text } = failureOf(await test.fetch("http://0xa9fea9fe/latest/meta-data/"));
    expect(text).not.toMatch(/allow/);
  });

  it("v4-7: what is no address is invalid", async () => {
    const test = await testWeb();
    await invalid(test, "http://1.2.3.4.5/");
    await invalid(test, "http://256.256.256.256/");
  });
});

describe("range", () => {
  it("range-1: all of 0/8", async () => refused(await testWeb(), "http://0.1.2.3/"));

  it("range-2: carrier-grade NAT and the metadata address inside it", async () => {
    const test = await testWeb();
    await refused(test, "http://100.64.0.1/");
    await refused(test, "http://100.100.100.200/", "address.metadata");
  });

  it("range-3: the last address of 172.16/12 and the first after it", async () => {
    const test = await testWeb();
    await refused(test, "http://172.31.255.255/");
    test.world.on("http://172.32.0.1/", "public");
    expect(pageOf(await test.fetch("http://172.32.0.1/")).data.content).toBe("public");
  });

  it("range-4: resolvedRanges is for names only", async () => {
    const test = await testWeb({
      net: { resolvedRanges: ["198.18.0.0/15", "203.0.113.0/24"] },
      world: { zone: [["vpn.pub", ["198.18.0.7"]]] },
    });
    await refused(test, "http://198.18.0.1/");
    test.world.on("http://vpn.pub/", "over the VPN");
    expect(pageOf(await test.fetch("http://vpn.pub/")).data.content).toBe("over the VPN");
  });

  it("range-5: reserved, broadcast, multicast", async () => {
    const test = await testWeb();
    for (const url of ["http://240.0.0.1/", "http://255.255.255.255/", "http://224.0.0.1/"]) await refused(test, url);
  });

  it("range-6: the metadata address in a public range", async () =>
    refused(await testWeb(), "http://168.63.129.16/", "address.metadata"));

  it("range-7: an ordinary public address passes", async () => {
    const test = await testWeb();
    test.world.on("http://93.184.216.34/", "public");
    expect(pageOf(await test.fetch("http://93.184.216.34/")).data.content).toBe("public");
  });
});

describe("v6", () => {
  it("v6-1: loopback and unspecified", async () => {
    const test = await testWeb();
    await refused(test, "http://[0:0:0:0:0:0:0:1]/", "address.loopback");
    await refused(test, "http://[::]/");
  });
  it("v6-2: the end of fe80::/10", async () => refused(await testWeb(), "http://[febf::1]/", "address.linkLocal"));
  it("v6-3: metadata, whatever is allowed", async () => {
    await refused(await testWeb(), "http://[fd00:ec2::254]/", "address.metadata");
    await refused(await testWeb({ net: { allow: ["[fd00::]/8"] } }), "http://[fd00:ec2::254]/", "address.metadata");
  });
  it("v6-4: documentation, discard, segment routing", async () => {
    const test = await testWeb();
    for (const url of ["http://[2001:db8::1]/", "http://[100::1]/", "http://[5f00::1]/"]) await refused(test, url);
  });
  it("v6-5: a zone is no URL", async () => {
    await invalid(await testWeb(), "http://[fe80::1%25eth0]/");
  });
  it("v6-6: an ordinary public address passes", async () => {
    const test = await testWeb();
    test.world.on("http://[2001:4860:4860::8888]/", "public");
    expect(pageOf(await test.fetch("http://[2001:4860:4860::8888]/")).data.content).toBe("public");
  });
});

describe("embed", () => {
  it.each([
    ["embed-1", "http://[::ffff:7f00:1]/", "address.loopback"],
    ["embed-2", "http://[::127.0.0.1]/", undefined],
    ["embed-3", "http://[64:ff9b::169.254.169.254]/", "address.metadata"],
    ["embed-4", "http://[2002:a9fe:a9fe::]/", undefined],
  ])("%s: %s is refused", async (_id, url, rule) => refused(await testWeb(), url, rule));

  it("embed-5: NAT64 of a public address passes", async () => {
    const test = await testWeb();
    test.world.on("http://[64:ff9b::808:808]/", "public");
    expect(pageOf(await test.fetch("http://[64:ff9b::808:808]/")).data.content).toBe("public");
  });

  it("embed-6: a mapped private address is refused after the look-up", async () => {
    const test = await testWeb({ world: { zone: [["mapped.pub", ["::ffff:10.0.0.5"]]] } });
    await refused(test, "http://mapped.pub/", "address.private");
    expect(test.world.dns.queries.some(({ name }) => name === "mapped.pub")).toBe(true);
  });
});

describe("name", () => {
  it.each([
    ["name-1", ["http://localhost./", "http://LOCALHOST/"]],
    ["name-2", ["http://x.localhost./"]],
    ["name-4", ["http://printer.local/", "http://nas.home.arpa/"]],
  ])("%s: refused without a look-up", async (_id, urls) => {
    const test = await testWeb();
    for (const url of urls) await refused(test, url, "name.local");
    expect(test.world.dns.queries.every(({ name }) => name === "s.pub")).toBe(true);
  });

  it("name-3: single labels", async () => {
    const test = await testWeb();
    await refused(test, "http://metadata/", "address.metadata");
    await refused(test, "http://printer/", "name.local");
  });

  it("name-5: a public name that begins with localhost is looked up", async () => {
    const test = await testWeb();
    test.world.on("http://localhost.example.pub/", "public");
    expect(pageOf(await test.fetch("http://localhost.example.pub/")).data.content).toBe("public");
  });
});

describe("idna", () => {
  it.each([
    ["idna-1", "http://①②⑦.⓪.⓪.①/", "address.loopback"],
    ["idna-2", "http://127。0。0。1/", "address.loopback"],
    ["idna-3", "http://loc\u00adalhost/", "name.local"],
  ])("%s: refused", async (_id, url, rule) => {
    const test = await testWeb();
    expect(failureOf(await test.fetch(url)).details).toMatchObject({ rule });
    expect(test.world.private.connections).toEqual([]);
  });

  it("idna-4: an international name is looked up in its ASCII form", async () => {
    const test = await testWeb();
    await test.fetch("http://bücher.example/");
    expect(test.world.dns.queries.map(({ name }) => name)).toContain("xn--bcher-kva.example");
  });
});

describe("url", () => {
  it("url-1: user name and password", async () => {
    const text = await invalid(await testWeb(), "http://example.pub@127.0.0.1/");
    expect(text).toMatch(/user name/);
  });
  it("url-2: a backslash ends the host", async () => {
    expect(failureOf(await (await testWeb()).fetch("http://127.0.0.1\\@example.pub/")).details).toMatchObject({
      rule: "address.loopback",
    });
  });
  it("url-3, url-4: forms that the parser makes whole", async () => {
    const test = await testWeb();
    for (const url of ["http:127.0.0.1/", "http:///127.0.0.1/", "ht\ntp://127.0.0.1/", "  http://127.0.0.1\t/ "]) {
      expect(failureOf(await test.fetch(url)).details, url).toMatchObject({ rule: "address.loopback" });
    }
  });
  it("url-5: other schemes are named", async () => {
    const test = await testWeb();
    for (const [url, scheme] of [
      ["gopher://x.org/", "gopher:"],
      ["FILE:///etc/passwd", "file:"],
      ["data:text/html,x", "data:"],
      ["view-source:http://x/", "view-source:"],
    ] as const) {
      expect(await invalid(test, url)).toContain(scheme);
    }
  });
  it("url-6: ports of other protocols", async () => {
    const test = await testWeb();
    for (const url of ["http://s.pub:25/", "http://s.pub:6000/"]) expect(await invalid(test, url)).toMatch(/port/);
  });
  it("url-7: addresses in query and fragment are only text", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/", "public");
    for (const url of ["http://s.pub/?u=http://127.0.0.1/", "http://s.pub/#@127.0.0.1"])
      expect(pageOf(await test.fetch(url)).data.content).toBe("public");
  });
});

describe("dns", () => {
  it("dns-1: an answer that changes between check and connection", async () => {
    const test = await testWeb();
    const { world } = test;
    world.on("http://rebind.pub/", (_request, response) =>
      response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-store" }).end("public"),
    );
    world.dns.zone.set("rebind.pub", ({ count, type }) =>
      type === "A" ? [count % 2 === 0 ? publicAddress : "127.0.0.1"] : [],
    );
    for (let call = 0; call < 50; call += 1) {
      if (call % 3 === 0) for (const socket of world.sockets) socket.destroy();
      const result = await test.fetch("http://rebind.pub/");
      if (result.ok) expect(pageOf(result).data.content).toBe("public");
      else expect(failureOf(result).code).toBe("denied");
    }
    expect(world.private.connections).toEqual([]);
    expect(new Set(world.dialled)).toEqual(new Set([publicAddress]));
  });

  it.each([
    ["dns-2", [deadAddress, "127.0.0.1"]],
    ["dns-3", [publicAddress, "::1"]],
  ])("%s: one private address refuses the whole answer", async (_id, addresses) =>
    refused(await testWeb({ world: { zone: [["mixed.pub", addresses]] } }), "http://mixed.pub/", "address.loopback"),
  );

  it("dns-4: a chain of aliases to a private address", async () =>
    refused(
      await testWeb({
        world: { zone: [["alias.pub", { cname: ["b.pub", "c.pub", "d.pub"], addresses: ["10.0.0.8"] }]] },
      }),
      "http://alias.pub/",
      "address.private",
    ));

  it("dns-5: a DNS server that never answers", async () => {
    const test = await testWeb({ world: { zone: [["silent.pub", "silent"]] } });
    const started = performance.now();
    expect(failureOf(await test.fetch("http://silent.pub/", { timeout: 2 })).code).toBe("timeout");
    expect(performance.now() - started).toBeGreaterThanOrEqual(1_950);
  });

  it("dns-6: an address of this machine", async () =>
    refused(
      await testWeb({ net: { ownAddresses: () => ["8.8.4.4"] }, world: { zone: [["self.pub", ["8.8.4.4"]]] } }),
      "http://self.pub/",
      "address.self",
    ));
});

describe("hop", () => {
  it("hop-1: a redirect to a metadata address names the chain", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/go", (_request, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    const failure = failureOf(await test.fetch("http://s.pub/go"));
    expect(failure).toMatchObject({ code: "denied", details: { rule: "address.metadata" } });
    expect(failure.text).toContain("http://s.pub/go -> http://169.254.169.254/");
  });

  it("hop-2: only the middle is private", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/go", (_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${test.world.private.port}/back` }).end(),
    );
    expect(failureOf(await test.fetch("http://s.pub/go")).code).toBe("denied");
    expect(test.world.private.connections).toEqual([]);
  });

  it("hop-3: other schemes", async () => {
    const test = await testWeb();
    for (const [location, scheme] of [
      ["file:///etc/passwd", "file:"],
      ["data:text/plain,hi", "data:"],
    ] as const) {
      test.world.on("http://s.pub/go", (_request, response) => response.writeHead(302, { location }).end());
      const failure = failureOf(await test.fetch("http://s.pub/go"));
      expect(failure.code).toBe("upstream");
      expect(failure.text).toContain(scheme);
    }
  });

  it("hop-4: relative places", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/a", (_request, response) => response.writeHead(302, { location: "./x/" }).end());
    test.world.on("http://s.pub/x/", (_request, response, url) =>
      url.search === ""
        ? response.writeHead(302, { location: "?page=2" }).end()
        : response.writeHead(200, { "content-type": "text/plain" }).end("two"),
    );
    const { data } = pageOf(await test.fetch("http://s.pub/a"));
    expect([data.content, data.finalUrl, data.redirects.length]).toEqual(["two", "http://s.pub/x/?page=2", 2]);
  });

  it("hop-5: a loop", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/a", (_request, response) => response.writeHead(302, { location: "/a" }).end());
    const failure = failureOf(await test.fetch("http://s.pub/a"));
    expect(failure.code).toBe("upstream");
    expect(failure.text).toMatch(/loop: http:\/\/s\.pub\/a -> http:\/\/s\.pub\/a/);
  });

  it("hop-6: a deny rule on the target of a redirect", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/go", (_request, response) =>
      response.writeHead(302, { location: "http://www.blocked.pub/" }).end(),
    );
    const policy = createPolicy({
      rules: [
        { effect: "allow", permission: "net.fetch" },
        { effect: "deny", permission: "net.fetch", resources: "*.blocked.pub" },
      ],
    });
    const failure = failureOf(await test.fetch("http://s.pub/go", {}, { policy }));
    expect(failure).toMatchObject({ code: "denied", details: { by: "policy" } });
    expect(test.world.dns.queries.some(({ name }) => name.includes("blocked"))).toBe(false);
  });
});

describe("head", () => {
  it("head-1, head-2: no header crosses an origin or comes back", async () => {
    const test = await testWeb();
    test.world.on("http://a.pub/1", (_request, response) =>
      response.writeHead(302, { location: "http://b.pub/2" }).end(),
    );
    test.world.on("http://b.pub/2", (_request, response) =>
      response.writeHead(302, { location: "http://a.pub/3" }).end(),
    );
    test.world.on("http://a.pub/3", "end");
    pageOf(await test.fetch("http://a.pub/1", { headers: { "x-api-key": "k", Authorization: "Bearer t" } }));
    expect(test.world.seen.map(({ headers }) => [headers["x-api-key"], headers.authorization])).toEqual([
      ["k", "Bearer t"],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it("head-3, head-4: refused headers and values", async () => {
    const test = await testWeb();
    expect(failureOf(await test.fetch("http://a.pub/", { headers: { "Metadata-Flavor": "Google" } })).code).toBe(
      "invalid_input",
    );
    const failure = failureOf(await test.fetch("http://a.pub/", { headers: { "x-own": "abc\r\nHost: x" } }));
    expect(failure.code).toBe("invalid_input");
    expect(failure.text).not.toContain("abc");
  });

  it("head-5: another port and https are other origins", async () => {
    const test = await testWeb({ world: { secure: ["a.pub"] } });
    for (const target of ["http://a.pub:8080/end", "https://a.pub/end"]) {
      test.world.on("http://a.pub/go", (_request, response) => response.writeHead(302, { location: target }).end());
      test.world.on(target, "end");
      pageOf(await test.fetch("http://a.pub/go", { headers: { authorization: "Bearer t" } }));
      expect(test.world.seen.at(-1)).toMatchObject({ url: target });
      expect(test.world.seen.at(-1)?.headers.authorization).toBeUndefined();
    }
  });
});

describe("local", () => {
  it("local-1: the hint holds the exact option", async () => {
    expect(failureOf(await (await testWeb()).fetch("http://localhost:3000/")).hint).toContain('["localhost:3000"]');
  });

  it("local-2: allowed host and port, and no other port", async () => {
    const test = await testWeb({ net: { allow: ["localhost:3000"] }, world: { zone: [["localhost", ["127.0.0.1"]]] } });
    expect(pageOf(await test.fetch("http://localhost:3000/")).data.content).toBe("private");
    expect(test.world.private.connections).toHaveLength(1);
    expect(failureOf(await test.fetch("http://localhost:3001/")).code).toBe("denied");
    expect(test.world.private.connections).toHaveLength(1);
  });

  it("local-3: metadata stays shut", async () =>
    refused(
      await testWeb({ net: { allow: ["169.254.169.254", "0.0.0.0/0"], resolvedRanges: ["203.0.113.0/24"] } }),
      "http://169.254.169.254/latest/meta-data/",
      "address.metadata",
    ));
});
