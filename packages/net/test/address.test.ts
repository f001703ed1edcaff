import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify } from "../src/index.ts";

const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
const number = (text: string): number => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);

/** First and last address of each special range of IPv4. */
const ranges4: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
];
const isSpecial4 = (value: number): boolean =>
  ranges4.some(([from, to]) => number(from) <= value && value <= number(to));

describe("IPv4", () => {
  it.each(ranges4)("refuses %s to %s and nothing beside it", (from, to) => {
    for (const edge of [number(from), number(to)]) expect(classify(dotted(edge)).public, dotted(edge)).toBe(false);
    for (const outside of [number(from) - 1, number(to) + 1]) {
      if (outside < 0 || outside > 0xffff_ffff) continue;
      expect(classify(dotted(outside)).public, dotted(outside)).toBe(!isSpecial4(outside));
    }
  });

  it("agrees with integer ranges on any address", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (value) => {
        expect(classify(dotted(value)).public).toBe(!isSpecial4(value));
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("refuses 200 random addresses of each range in every IPv6 form that is judged as IPv4", () => {
    for (const [from, to] of ranges4) {
      const inside = fc.integer({ min: number(from), max: number(to) });
      fc.assert(
        fc.property(inside, (value) => {
          const hex = `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
          for (const form of [
            `::ffff:${hex}`,
            `64:ff9b::${hex}`,
            `2606:4700::200:5efe:${hex}`,
            `2606:4700::5efe:${hex}`,
          ]) {
            expect(classify(form).public, form).toBe(false);
          }
        }),
        { numRuns: runs(200) },
      );
    }
  });
});

describe("IPv6", () => {
  it.each([
    ["::1", "loopback"],
    ["::", "reserved"],
    ["::127.0.0.1", "embedded"],
    ["::8.8.8.8", "embedded"],
    ["::ffff:0:8.8.8.8", "embedded"],
    ["64:ff9b:1::808:808", "embedded"],
    ["2002:808:808::1", "embedded"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "embedded"],
    ["2606:4700::200:5efe:10.0.0.1", "embedded"],
    ["fc00::1", "private"],
    ["fdff::1", "private"],
    ["fec0::1", "private"],
    ["fe80::1", "linkLocal"],
    ["febf::1", "linkLocal"],
    ["ff02::1", "multicast"],
    ["100::1", "reserved"],
    ["5f00::1", "reserved"],
    ["4000::1", "reserved"],
    ["1fff::1", "reserved"],
    ["2001:db8::1", "reserved"],
    ["2001:10::1", "reserved"],
    ["2001:1ff:ffff::1", "reserved"],
    ["3fff::1", "reserved"],
    ["3fff:fff::1", "reserved"],
  ])("%s is %s", (address, kind) => {
    expect(classify(address)).toMatchObject({ public: false, kind });
    expect(classify(`[${address}]`)).toMatchObject({ public: false, kind });
  });

  it.each([
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2001:200::1",
    "2003::1",
    "3ffe:ffff::1",
    "3fff:1000::1",
    "2a00::1",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
    "2606:4700::200:5efe:8.8.8.8",
  ])("%s is public", (address) => {
    expect(classify(address)).toEqual({ public: true });
  });

  it("refuses what carries a zone and what is no address", () => {
    expect(classify("fe80::1%eth0")).toMatchObject({ public: false });
    expect(classify("2606:4700::1%1")).toMatchObject({ public: false });
    expect(classify("example.org")).toMatchObject({ public: false, kind: "reserved" });
    expect(classify("1.2.3")).toMatchObject({ public: false, kind: "reserved" });
  });

  it("unwraps every NAT64 prefix of RFC 6052 that it is told", () => {
    const mapped: Record<string, string> = {
      "2a0a:aaaa::/32": "2a0a:aaaa:a9fe:a9fe::",
      "2a0a:aaaa:bb00::/40": "2a0a:aaaa:bba9:fea9:fe::",
      "2a0a:aaaa:bbbb::/48": "2a0a:aaaa:bbbb:a9fe:a9:fe00::",
      "2a0a:aaaa:bbbb:cc00::/56": "2a0a:aaaa:bbbb:cca9:fe:a9fe::",
      "2a0a:aaaa:bbbb:cccc::/64": "2a0a:aaaa:bbbb:cccc:a9:fea9:fe00::",
      "2a0a:aaaa:bbbb:cccc:dddd:eeee::/96": "2a0a:aaaa:bbbb:cccc:dddd:eeee:a9fe:a9fe",
    };
    for (const [prefix, address] of Object.entries(mapped)) {
      expect(classify(address), prefix).toEqual({ public: true });
      expect(classify(address, { nat64Prefixes: [prefix] }), prefix).toMatchObject({ public: false, kind: "metadata" });
    }
  });
});

describe("metadata", () => {
  it.each([
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "::169.254.169.254",
    "2606:4700::5efe:169.254.169.254",
  ])("%s is metadata", (address) => {
    expect(classify(address)).toEqual({ public: false, kind: "metadata", metadata: true });
  });

  it("counts all of 169.254/16 and fe80::/10 to what no option opens", () => {
    expect(classify("169.254.1.1")).toEqual({ public: false, kind: "linkLocal", metadata: true });
    expect(classify("fe80::1")).toEqual({ public: false, kind: "linkLocal", metadata: true });
  });
});
