import type { PermissionRequest } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import { describe, expect, it } from "vitest";
import { failure, testNet, textOf } from "./world.ts";

const to =
  (location: string, status = 302) =>
  (
    _request: unknown,
    response: { writeHead(status: number, headers: Record<string, string>): { end(): void } },
  ): void => {
    response.writeHead(status, { location }).end();
  };

describe("redirects", () => {
  const special = [
    "http://127.0.0.1/",
    "http://0x7f000001:8080/x",
    "http://[::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[::ffff:a00:1]/",
    "http://localhost/",
    "http://printer/",
    "http://private.pub/",
    "http://169.254.169.254/latest/",
    "//127.1/",
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    it(`refuses every special place behind ${status} before it connects`, async () => {
      const { world, net } = await testNet({}, { zone: [["private.pub", ["10.0.0.8"]]] });
      for (const place of special) {
        world.on("http://s.pub/go", to(place, status));
        world.on("http://first.pub/", to("http://s.pub/go", status));
        for (const start of ["http://s.pub/go", "http://first.pub/"]) {
          const error = await failure(() => net.request({ url: start }, {}));
          expect(error, place).toMatchObject({ code: "denied", details: { by: "policy" } });
          expect(error.message).toContain(" -> ");
          expect(error.message).toContain(start);
        }
      }
      expect(world.private.connections).toEqual([]);
    });
  }

  it("refuses the private place in the middle of a chain", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/a", to(`http://127.0.0.1:${world.private.port}/b`));
    await failure(() => net.request({ url: "http://s.pub/a" }, {}));
    expect(world.private.connections).toEqual([]);
  });

  it.each([
    ["file:///etc/passwd", /file:/],
    ["data:text/plain,hi", /data:/],
    ["http://user:pw@s.pub/", /user name/],
    ["http://[zz]/", /no URL/],
    [`http://s.pub/${"x".repeat(9_000)}`, /no URL/],
  ])("does not follow to %s", async (location, words) => {
    const { world, net } = await testNet();
    world.on("http://s.pub/go", to(location));
    const error = await failure(() => net.request({ url: "http://s.pub/go" }, {}));
    expect(error.code).toBe("upstream");
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain("pw@");
  });

  it("follows relative places and gives the chain", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/dir/a", to("./x/"));
    world.on("http://s.pub/dir/x/", (request, response) =>
      request.url?.includes("page=2") === true ? response.end("two") : to("?page=2")(request, response),
    );
    const response = await net.request({ url: "http://s.pub/dir/a#part" }, {});
    expect(response.url).toBe("http://s.pub/dir/x/?page=2#part");
    expect(response.redirects.map((step) => step.to)).toEqual(["http://s.pub/dir/x/", "http://s.pub/dir/x/?page=2"]);
    await response.discard();
    expect(world.seen.every(({ url }) => !url.includes("#"))).toBe(true);
  });

  it("ends loops and long chains and shows them", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/a", to("/a"));
    world.on("http://s.pub/b", to("/c"));
    world.on("http://s.pub/c", to("/b"));
    world.on("http://long.pub/*", (request, response) =>
      to(`/${Number(request.url?.slice(1)) + 1}`)(request, response),
    );
    expect((await failure(() => net.request({ url: "http://s.pub/a" }, {}))).message).toMatch(/loop.*\/a -> .*\/a/);
    expect((await failure(() => net.request({ url: "http://s.pub/b" }, {}))).message).toMatch(
      /loop.*\/b -> .*\/c -> .*\/b/,
    );
    const long = await failure(() => net.request({ url: "http://long.pub/1" }, {}));
    expect(long).toMatchObject({ code: "upstream" });
    expect(long.message).toMatch(/more than 5 redirects/);
    expect(world.seen.filter(({ url }) => url.startsWith("http://long.pub"))).toHaveLength(6);
  });

  it("gives the redirect itself back when asked", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/a", to("http://127.0.0.1/"));
    const response = await net.request({ url: "http://s.pub/a", redirects: "manual" }, {});
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("http://127.0.0.1/");
    await response.discard();
  });

  it("turns a POST into GET by 301, 302 and 303, keeps it by 307 and 308, never across origins", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/end", (request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => response.end(`${request.method} ${body} ${request.headers["content-type"] ?? "-"}`));
    });
    const post = async (status: number, location: string) => {
      world.on("http://s.pub/post", to(location, status));
      const response = await net.request(
        { url: "http://s.pub/post", method: "POST", body: "data", headers: { "content-type": "text/x" } },
        {},
      );
      return new TextDecoder().decode(await response.bytes());
    };
    for (const status of [301, 302, 303]) expect(await post(status, "/end")).toBe("GET  -");
    for (const status of [307, 308]) {
      expect(await post(status, "/end")).toBe("POST data text/x");
      expect(await failure(() => post(status, "http://other.pub/"))).toMatchObject({
        code: "denied",
        details: { rule: "redirect.body" },
      });
    }
    expect(world.seen.some(({ url }) => url.startsWith("http://other.pub"))).toBe(false);
  });
});

describe("headers over a chain", () => {
  const secret = {
    authorization: "Bearer x",
    cookie: "a=b",
    "x-api-key": "k",
    "X-My-Own": "v",
    accept: "text/x",
    "accept-language": "de",
    "user-agent": "me",
  };

  it("latches: A -> B -> A sees no header of the caller again but three", async () => {
    const { world, net } = await testNet();
    world.on("http://a.pub/1", to("/2"));
    world.on("http://a.pub/2", to("http://b.pub/3"));
    world.on("http://b.pub/3", to("http://a.pub/4"));
    world.on("http://a.pub/4", "end");
    await (await net.request({ url: "http://a.pub/1", headers: secret }, {})).discard();
    const [first, second, third, fourth] = world.seen;
    for (const seen of [first, second])
      expect(seen?.headers).toMatchObject({
        authorization: "Bearer x",
        "x-my-own": "v",
        "x-api-key": "k",
        cookie: "a=b",
      });
    for (const seen of [third, fourth]) {
      expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "host",
        "user-agent",
      ]);
      expect(seen?.headers).toMatchObject({ accept: "text/x", "accept-language": "de", "user-agent": "me" });
    }
  });

  it("counts another port and another scheme as another origin", async () => {
    const { world, net } = await testNet({}, { secure: ["a.pub"] });
    world.on("http://a.pub/port", to("http://a.pub:8080/end"));
    world.on("http://a.pub/scheme", to("https://a.pub/end"));
    world.on("http://a.pub:8080/end", "end");
    world.on("https://a.pub/end", "end");
    for (const path of ["port", "scheme"])
      await (await net.request({ url: `http://a.pub/${path}`, headers: secret }, {})).discard();
    const ends = world.seen.filter(({ url }) => url.endsWith("/end"));
    expect(ends).toHaveLength(2);
    for (const seen of ends) expect(seen.headers.authorization).toBeUndefined();
  });

  it("drops every header of the caller from https to http and says so", async () => {
    const { world, net } = await testNet({}, { secure: ["a.pub"] });
    world.on("https://a.pub/", to("http://a.pub/plain"));
    world.on("http://a.pub/plain", "plain");
    const response = await net.request({ url: "https://a.pub/", headers: secret }, {});
    expect(response.notes.map(({ code }) => code)).toEqual(["downgraded"]);
    await response.discard();
    expect(world.seen[1]?.headers).not.toMatchObject({ "user-agent": "me" });
    expect(world.seen[1]?.headers["accept-language"]).toBeUndefined();
  });

  it.each([
    "Host",
    "connection",
    "Keep-Alive",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
    "proxy-authorization",
    "Proxy-Anything",
    "sec-fetch-mode",
    "metadata",
    "Metadata-Flavor",
    "x-google-metadata-request",
    "X-aws-ec2-metadata-token",
    "a b",
    "",
    "naïve",
  ])("refuses the header %j", async (name) => {
    const { world, net } = await testNet();
    const error = await failure(() => net.request({ url: "http://a.pub/", headers: { [name]: "secret-value" } }, {}));
    expect(error.code).toBe("invalid_input");
    expect(`${error.message} ${error.hint}`).not.toContain("secret-value");
    expect(world.dns.queries).toEqual([]);
  });

  it.each(["a\r\nHost: x", "a\nb", "a\0b", "snow ☃"])("refuses the value %j and does not repeat it", async (value) => {
    const { net } = await testNet();
    const error = await failure(() => net.request({ url: "http://a.pub/", headers: { "x-own": value } }, {}));
    expect(error.code).toBe("invalid_input");
    expect(error.message).toContain("x-own");
    expect(`${error.message} ${error.hint}`).not.toContain(value);
  });

  it("refuses two spellings of one name, too many and too long headers", async () => {
    const { net } = await testNet();
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, "v"]));
    for (const headers of [{ accept: "a", Accept: "b" }, many, { "x-long": "v".repeat(9_000) }]) {
      expect(await failure(() => net.request({ url: "http://a.pub/", headers }, {}))).toMatchObject({
        code: "invalid_input",
      });
    }
    const wrong: Record<string, string> = JSON.parse('{"x-number": 5}');
    expect(await failure(() => net.request({ url: "http://a.pub/", headers: wrong }, {}))).toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("the gate", () => {
  it("is asked for every hop, with port and without query, before anything is sent", async () => {
    const { world, net } = await testNet();
    world.on("http://a.pub/x", to("http://b.pub:8080/y?q=2#z"));
    world.on("http://b.pub:8080/y", "end");
    const asked: PermissionRequest[] = [];
    const ask = async (request: PermissionRequest) => {
      expect(world.seen).toHaveLength(asked.length);
      asked.push(request);
    };
    await (await net.request({ url: "http://a.pub/x?secret=1#f", headers: { "x-own": "value" } }, { ask })).discard();
    expect(asked.map(({ permission, resources }) => [permission, ...resources])).toEqual([
      ["net.fetch", "http://a.pub:80/x"],
      ["net.fetch", "http://b.pub:8080/y"],
    ]);
    expect(asked[0]?.details).toEqual({ method: "GET", headers: ["x-own"] });
    expect(JSON.stringify(asked)).not.toContain("value");
  });

  it("stops a hop that it denies", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", to("http://www.blocked.pub/"));
    const ask = async ({ resources }: PermissionRequest) => {
      if (resources.some((resource) => resource.includes("blocked")))
        throw new ToolError("denied", "by rule", { details: { by: "policy" } });
    };
    const error = await failure(() => net.request({ url: "http://s.pub/" }, { ask }));
    expect(error.code).toBe("denied");
    expect(error.message).toContain("http://s.pub/ -> http://www.blocked.pub/");
    expect(world.dns.queries.some(({ name }) => name.includes("blocked"))).toBe(false);
  });

  it("asks for another permission when told, and does not wait longer than the deadline", async () => {
    const { net } = await testNet();
    let permission = "";
    const ask = (request: PermissionRequest) => {
      permission = request.permission;
      return new Promise<void>(() => undefined);
    };
    const error = await failure(() =>
      net.request({ url: "http://a.pub/", permission: "net.share", timeoutMs: 200 }, { ask }),
    );
    expect(error).toMatchObject({ code: "timeout", details: { phase: "permission" } });
    expect(permission).toBe("net.share");
  });

  it("sends nothing when the text of the response is not wanted", async () => {
    const { world, net } = await testNet();
    world.on("http://a.pub/", "text");
    expect(await textOf(net, "http://a.pub/")).toBe("text");
    expect(world.seen[0]?.headers).toMatchObject({ "user-agent": "toolhaft/0.1.0", host: "a.pub" });
    expect(world.seen[0]?.headers.referer).toBeUndefined();
  });
});
