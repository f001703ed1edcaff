import { createServer } from "node:tls";
import { createAuthority } from "@toolhaft/testing/web-world";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNet } from "../src/index.ts";
import { failure, testNet, textOf } from "./world.ts";

/** A TLS server on loopback with this certificate; gives its port and what names it was asked for. */
async function tlsServer(certificate: {
  key: string;
  cert: string;
}): Promise<{ port: number; names: (string | undefined)[] }> {
  const names: (string | undefined)[] = [];
  const onName = (name: string, done: (error: Error | null) => void): void => {
    names.push(name);
    done(null);
  };
  const server = createServer({ ...certificate, SNICallback: onName }, (socket) => {
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, names };
}

describe("TLS", () => {
  it("accepts the right authority, keeps the name for SNI, and refuses every other certificate", async () => {
    const ours = await createAuthority();
    const theirs = await createAuthority();
    const certificates = {
      good: await ours.issue(["s.pub"]),
      host: await ours.issue(["other.pub"]),
      expired: await ours.issue(["s.pub"], { expired: true }),
      stranger: await theirs.issue(["s.pub"]),
    };
    for (const [kind, certificate] of Object.entries(certificates)) {
      const server = await tlsServer(certificate);
      const { world, net } = await testNet({ ca: ours.ca, allow: ["s.pub"] }, { zone: [["s.pub", ["127.0.0.1"]]] });
      world.open.add(server.port);
      const url = `https://s.pub:${server.port}/`;
      if (kind === "good") {
        expect(await textOf(net, url)).toBe("ok");
        expect(server.names).toEqual(["s.pub"]);
        continue;
      }
      const error = await failure(() => net.request({ url }, {}));
      expect(error, kind).toMatchObject({
        code: "upstream",
        details: { tls: expect.stringMatching(/CERT|ALTNAME|SIGNED|UNABLE|VERIFY/) },
      });
      expect(error.message).toContain("TLS");
    }
  });

  it("cannot be weakened by the environment", async () => {
    const stranger = await createAuthority();
    const server = await tlsServer(await stranger.issue(["s.pub"]));
    const { world, net } = await testNet({ allow: ["s.pub"] }, { zone: [["s.pub", ["127.0.0.1"]]] });
    world.open.add(server.port);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    onTestFinished(() => void delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    expect(await failure(() => net.request({ url: `https://s.pub:${server.port}/` }, {}))).toMatchObject({
      code: "upstream",
    });
  });

  it("checks the certificate of an address against the address", async () => {
    const authority = await createAuthority();
    for (const [names, works] of [
      [["127.0.0.1"], true],
      [["s.pub"], false],
    ] as const) {
      const server = await tlsServer(await authority.issue(names));
      await using net = createNet({ allow: ["127.0.0.1"], ca: authority.ca, minIntervalMs: 0 });
      const call = textOf(net, `https://127.0.0.1:${server.port}/`);
      if (works) expect(await call).toBe("ok");
      else await expect(call).rejects.toMatchObject({ code: "upstream" });
    }
  });
});
