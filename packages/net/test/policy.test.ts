import { ToolError } from "@toolhaft/core";
import { describe, expect, it } from "vitest";
import { createNet, type NetOptions } from "../src/index.ts";

/** Rule of a refusal, `invalid_input`, or `ok`. */
function verdict(url: string, options: NetOptions = {}): string {
  try {
    createNet({ proxy: "none", ...options }).check(url);
    return "ok";
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return error.code === "denied" ? String(error.details?.rule) : error.code;
  }
}

function hintOf(url: string, options: NetOptions = {}): string | undefined {
  try {
    createNet(options).check(url);
  } catch (error) {
    if (error instanceof ToolError) return error.hint;
  }
  return expect.fail("it passed");
}

describe("literals in every spelling", () => {
  const loopback = [
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.0x0.0x0.0x1",
    "0x7f000001",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127%2e0%2e0%2e1",
    "[0:0:0:0:0:0:0:1]",
    "[::1]",
    "[::ffff:7f00:1]",
    "[::ffff:127.0.0.1]",
  ];
  it.each(loopback)("%s is loopback", (host) => {
    for (const rest of ["/", ":8080/a?b#c", "/x/y"]) {
      for (const scheme of ["http", "HTTPS"]) expect(verdict(`${scheme}://${host}${rest}`)).toBe("address.loopback");
    }
  });

  it.each([
    ["http://0xa9fea9fe/latest/meta-data/", "address.metadata"],
    ["http://0.1.2.3/", "address.reserved"],
    ["http://0/", "address.reserved"],
    ["http://100.64.0.1/", "address.private"],
    ["http://100.100.100.200/", "address.metadata"],
    ["http://172.31.255.255/", "address.private"],
    ["http://172.32.0.1/", "ok"],
    ["http://240.0.0.1/", "address.reserved"],
    ["http://255.255.255.255/", "address.reserved"],
    ["http://224.0.0.1/", "address.multicast"],
    ["http://168.63.129.16/", "address.metadata"],
    ["http://93.184.216.34/", "ok"],
    ["http://[::]/", "address.reserved"],
    ["http://[febf::1]/", "address.linkLocal"],
    ["http://[fd00:ec2::254]/", "address.metadata"],
    ["http://[2001:4860:4860::8888]/", "ok"],
    ["http://[fe80::1%25eth0]/", "invalid_input"],
    ["http://1.2.3.4.5/", "invalid_input"],
    ["http://256.256.256.256/", "invalid_input"],
  ])("%s gives %s", (url, expected) => {
    expect(verdict(url)).toBe(expected);
  });

  it("refuses this machine's own public addresses", () => {
    expect(verdict("http://9.9.9.9/", { ownAddresses: () => ["9.9.9.9"] })).toBe("address.self");
    expect(verdict("http://[::ffff:9.9.9.9]/", { ownAddresses: () => ["9.9.9.9"] })).toBe("address.self");
  });
});

describe("names", () => {
  const zones = [
    "localhost",
    "local",
    "internal",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
    "home.arpa",
    "svc",
    "cluster.local",
    "test",
    "invalid",
    "onion",
  ];
  it.each(zones)("%s and all below it are refused, in any case, with dots at the end", (zone) => {
    for (const host of [zone, `x.${zone}`, `a.b.${zone}`, `${zone}.`, `x.${zone}..`, `X.${zone.toUpperCase()}`]) {
      expect(verdict(`http://${host}/`), host).toBe("name.local");
    }
  });

  it.each(["loc\u00adalhost", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "LOCALHOST", "printer", "x.localhost."])("%s is refused", (host) => {
    expect(verdict(`http://${host}/`)).toBe("name.local");
  });

  it.each([
    "metadata",
    "metadata.google.internal",
    "METADATA.GOOGLE.INTERNAL.",
    "metadata.aws.internal",
    "metadata.azure.internal",
    "instance-data",
    "instance-data.ec2.internal",
  ])("%s is metadata, whatever is allowed", (host) => {
    expect(verdict(`http://${host}/`)).toBe("address.metadata");
    expect(verdict(`http://${host}/`, { allow: [host.toLowerCase(), "**.internal", "*.internal", "metadata"] })).toBe(
      "address.metadata",
    );
  });

  it.each([
    "localhost.example.com",
    "internal.example.com",
    "notlocal",
    "mylocalhost.org",
    "local.de",
    "home.arpa.example",
    "contest",
  ])("%s is judged by its whole labels", (host) => {
    expect(verdict(`http://${host}/`)).toBe(host.includes(".") ? "ok" : "name.local");
  });

  it("gives the ASCII form of an international name", () => {
    expect(createNet().check("http://bücher.example/").host).toBe("xn--bcher-kva.example");
  });
});

describe("the text of a URL", () => {
  it.each([
    ["http://example.pub@127.0.0.1/", "invalid_input"],
    ["http://user:secret@example.org/", "invalid_input"],
    ["http://127.0.0.1\\@example.pub/", "address.loopback"],
    ["http:127.0.0.1/", "address.loopback"],
    ["http:///127.0.0.1/", "address.loopback"],
    ["ht\ntp://127.0.0.1/", "address.loopback"],
    ["  http://127.0.0.1\t/ ", "address.loopback"],
    ["gopher://x.org/", "invalid_input"],
    ["FILE:///etc/passwd", "invalid_input"],
    ["data:text/html,x", "invalid_input"],
    ["view-source:http://x.org/", "invalid_input"],
    ["ftp://x.org/", "invalid_input"],
    ["http://s.pub:25/", "invalid_input"],
    ["http://s.pub:6000/", "invalid_input"],
    ["http://s.pub:0/", "invalid_input"],
    ["http://s.pub:70000/", "invalid_input"],
    ["", "invalid_input"],
    ["//x", "invalid_input"],
    ["example.com", "invalid_input"],
    [`http://s.pub/${"a".repeat(9_000)}`, "invalid_input"],
    ["http://./", "invalid_input"],
    ["http://s.pub/?u=http://127.0.0.1/", "ok"],
    ["http://s.pub/#@127.0.0.1", "ok"],
    ["http://S.PUB:80/a b", "ok"],
  ])("%j gives %s", (url, expected) => {
    expect(verdict(url)).toBe(expected);
  });

  it("says the corrected form where there is one, and never the password", () => {
    expect(hintOf("example.com")).toContain("https://example.com/");
    expect(hintOf("//example.com/a")).toContain("https://example.com/a");
    expect(hintOf("example.com:8080/a")).toContain("https://example.com:8080/a");
    expect(hintOf("localhost:3000")).toContain("http://localhost:3000/");
    expect(hintOf("http://user:secret@example.org/")).toContain("http://example.org/");
    expect(hintOf("http://user:secret@example.org/")).not.toContain("secret");
  });
});

describe("allow and deny", () => {
  it("opens exactly the host and port that it names, and the refusal holds the entry to add", () => {
    expect(hintOf("http://localhost:3000/")).toContain('["localhost:3000"]');
    expect(verdict("http://localhost:3000/", { allow: ["localhost:3000"] })).toBe("ok");
    expect(verdict("http://localhost:3001/", { allow: ["localhost:3000"] })).toBe("name.local");
    expect(verdict("http://127.0.0.1:3000/", { allow: ["localhost:3000"] })).toBe("address.loopback");
    expect(verdict("http://localhost:9999/", { allow: ["localhost"] })).toBe("ok");
    expect(verdict("http://[::1]:3000/", { allow: ["[::1]:3000"] })).toBe("ok");
    expect(verdict("http://0x7f000001:3000/", { allow: ["127.0.0.1:3000"] })).toBe("ok");
    expect(verdict("http://127.0.0.2:3000/", { allow: ["127.0.0.1:3000"] })).toBe("address.loopback");
  });

  it("takes CIDR blocks with and without port for literals, not for local names", () => {
    expect(verdict("http://10.1.2.3/", { allow: ["10.1.0.0/16"] })).toBe("ok");
    expect(verdict("http://10.2.2.3/", { allow: ["10.1.0.0/16"] })).toBe("address.private");
    expect(verdict("http://10.1.2.3:81/", { allow: ["10.1.0.0/16:80"] })).toBe("address.private");
    expect(verdict("http://[fd12::5]:8080/", { allow: ["[fd12::]/16:8080"] })).toBe("ok");
    expect(verdict("http://[::ffff:10.1.2.3]/", { allow: ["10.1.0.0/16"] })).toBe("ok");
    expect(verdict("http://localhost/", { allow: ["127.0.0.0/8"] })).toBe("name.local");
  });

  it("matches host patterns by label", () => {
    expect(verdict("http://wiki.corp/", { allow: ["*.corp"] })).toBe("ok");
    expect(verdict("http://a.wiki.corp/", { allow: ["*.corp"] })).toBe("name.local");
    expect(verdict("http://a.wiki.corp/", { allow: ["**.corp"] })).toBe("ok");
    expect(verdict("http://corp/", { allow: ["**.corp"] })).toBe("name.local");
  });

  it.each([
    "http://169.254.169.254/",
    "http://[fd00:ec2::254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://169.254.0.7/",
    "http://[fe80::1]/",
  ])("never opens %s and gives no hint", (url) => {
    const allow = ["0.0.0.0/0", "[::]/0", "169.254.169.254", "[fd00:ec2::254]", "[fd00::]/8"];
    expect(verdict(url, { allow })).toMatch(/^address\.(metadata|linkLocal)$/);
    expect(hintOf(url, { allow })).toBeUndefined();
  });

  it("lets deny win, for names, literals and blocks", () => {
    expect(verdict("http://a.example.org/", { deny: ["*.example.org"] })).toBe("option.deny");
    expect(verdict("http://localhost:3000/", { allow: ["localhost"], deny: ["localhost"] })).toBe("option.deny");
    expect(verdict("http://10.1.2.3/", { allow: ["10.0.0.0/8"], deny: ["10.1.0.0/16"] })).toBe("option.deny");
    expect(verdict("http://8.8.8.8/", { deny: ["8.8.8.8"] })).toBe("option.deny");
  });

  it.each(["", "a b", "http://x", "10.0.0.0/99", "[::1", "x:99999", "[zz::1]"])(
    "says which entry cannot be read: %j",
    (entry) => {
      expect(() => createNet({ allow: [entry] })).toThrow(/options\.net\.allow/);
    },
  );

  it("keeps literals of resolvedRanges refused", () => {
    expect(verdict("http://198.18.0.1/", { resolvedRanges: ["198.18.0.0/15"] })).toBe("address.reserved");
  });
});
