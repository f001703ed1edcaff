import { deadAddress, publicAddress } from "@toolhaft/testing/web-world";
import { describe, expect, it } from "vitest";
import { failure, testNet, textOf } from "./world.ts";

describe("answers of the DNS server", () => {
  it("connects to the address that was checked, however the answers change", async () => {
    const { world, net } = await testNet();
    world.on("http://rebind.pub/", "public");
    world.dns.zone.set("rebind.pub", ({ count, type }) =>
      type === "A" ? [count % 2 === 0 ? publicAddress : "127.0.0.1"] : [],
    );
    let refused = 0;
    let reached = 0;
    for (let call = 0; call < 100; call += 1) {
      // Every other call on a new connection: the kept one is closed by the server.
      for (const socket of call % 2 === 0 ? world.sockets : []) socket.destroy();
      try {
        expect(await textOf(net, "http://rebind.pub/")).toBe("public");
        reached += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: "denied" });
        refused += 1;
      }
    }
    expect(world.private.connections).toEqual([]);
    expect(new Set(world.dialled)).toEqual(new Set([publicAddress]));
    expect(reached).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });

  it.each([
    ["a mixed answer", [deadAddress, "127.0.0.1"], "address.loopback"],
    ["a mixed answer in the other order", ["10.0.0.8", publicAddress], "address.private"],
    ["an answer split over the families", [publicAddress, "::1"], "address.loopback"],
    ["a mapped address", ["::ffff:10.0.0.5"], "address.private"],
    ["a metadata address", ["169.254.169.254"], "address.metadata"],
    ["NAT64 of a metadata address", ["64:ff9b::a9fe:a9fe"], "address.metadata"],
  ])("refuses %s", async (_what, addresses, rule) => {
    const { world, net } = await testNet({}, { zone: [["mixed.pub", addresses]] });
    const error = await failure(() => net.request({ url: "http://mixed.pub/" }, {}));
    expect(error).toMatchObject({ code: "denied", details: { by: "policy", rule } });
    expect(error.message).not.toContain(addresses[1] ?? addresses[0]);
    expect(world.dialled).toEqual([]);
    expect(world.private.connections).toEqual([]);
  });

  it("follows a chain of aliases to its addresses", async () => {
    const { world, net } = await testNet(
      {},
      { zone: [["alias.pub", { cname: ["b.pub", "c.pub", "d.pub"], addresses: ["10.0.0.8"] }]] },
    );
    expect(await failure(() => net.request({ url: "http://alias.pub/" }, {}))).toMatchObject({ code: "denied" });
    expect(world.dialled).toEqual([]);
  });

  it("tells a name without address from a server that does not answer", async () => {
    const { net } = await testNet(
      {},
      {
        zone: [
          ["gone.pub", "nxdomain"],
          ["empty.pub", []],
          ["silent.pub", "silent"],
        ],
      },
    );
    expect(await failure(() => net.request({ url: "http://gone.pub/" }, {}))).toMatchObject({ code: "not_found" });
    expect(await failure(() => net.request({ url: "http://empty.pub/" }, {}))).toMatchObject({ code: "not_found" });
    const started = performance.now();
    const error = await failure(() => net.request({ url: "http://silent.pub/", timeoutMs: 1_000 }, {}));
    expect(error).toMatchObject({ code: "timeout", details: { phase: "the DNS server" } });
    expect(performance.now() - started).toBeGreaterThanOrEqual(950);
  });

  it("refuses a name that leads to an address of this machine", async () => {
    const { net } = await testNet({ ownAddresses: () => ["8.8.4.4"] }, { zone: [["self.pub", ["8.8.4.4"]]] });
    expect(await failure(() => net.request({ url: "http://self.pub/" }, {}))).toMatchObject({
      code: "denied",
      details: { rule: "address.self" },
    });
  });

  it("counts answers of resolvedRanges as public, but never metadata among them", async () => {
    const { world, net } = await testNet(
      { resolvedRanges: ["198.18.0.0/15", "169.254.0.0/16"] },
      {
        zone: [
          ["vpn.pub", ["198.18.0.7"]],
          ["bad.pub", ["169.254.169.254"]],
        ],
      },
    );
    world.on("http://vpn.pub/", "over the VPN");
    expect(await textOf(net, "http://vpn.pub/")).toBe("over the VPN");
    expect(await failure(() => net.request({ url: "http://bad.pub/" }, {}))).toMatchObject({
      details: { rule: "address.metadata" },
    });
  });

  it("tries the next address when one does not answer", async () => {
    const { world, net } = await testNet({}, { zone: [["two.pub", [deadAddress, publicAddress]]] });
    world.on("http://two.pub/", "second");
    expect(await textOf(net, "http://two.pub/")).toBe("second");
    expect(world.dialled).toEqual([deadAddress, publicAddress]);
  });

  it("admits a private answer of an allowed name, and only of that name", async () => {
    const { world, net } = await testNet(
      { allow: ["wiki.corp.pub"] },
      {
        zone: [
          ["wiki.corp.pub", ["127.0.0.1"]],
          ["other.corp.pub", ["127.0.0.1"]],
          ["meta.corp.pub", ["169.254.169.254"]],
        ],
      },
    );
    expect(await textOf(net, "http://wiki.corp.pub/")).toBe("private");
    expect(world.private.connections).toHaveLength(1);
    expect(await failure(() => net.request({ url: "http://other.corp.pub/" }, {}))).toMatchObject({ code: "denied" });
    expect(world.private.connections).toHaveLength(1);
  });
});
