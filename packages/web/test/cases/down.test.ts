import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { ToolResult } from "@toolhaft/core";
import { runs, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { cleanFileName, downloadName } from "../../src/download/file-name.ts";
import { createWeb } from "../../src/index.ts";
import { failureOf, type TestWeb, testWeb } from "../web-world.ts";

interface Saved {
  path: string;
  bytes: number;
  sha256: string;
  resumedFrom?: number;
  alreadyThere: boolean;
}

const sha = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

async function setting(): Promise<{
  test: TestWeb;
  directory: string;
  download(input: Record<string, unknown>): Promise<ToolResult>;
}> {
  const test = await testWeb();
  const { directory, remove } = await tempWorkspace();
  onTestFinished(remove);
  return { test, directory, download: (input) => test.call("download_file", input, { directory }) };
}

function savedOf(result: ToolResult): Saved {
  return result.ok ? (result.data as Saved) : expect.fail(result.text);
}

/** Everything in the folder but the state of the tools. */
const files = (directory: string): string[] => readdirSync(directory).filter((name) => name !== ".toolhaft");
const parts = (directory: string): string[] => {
  const folder = join(directory, ".toolhaft", "downloads");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".part")) : [];
};

describe("down", () => {
  it("saves the bytes with their hash, as a change of the workspace, not executable", async () => {
    const { test, directory, download } = await setting();
    test.world.on("http://s.pub/data.bin", (_request, response) =>
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(content),
    );
    const result = await download({
      url: "http://s.pub/data.bin",
      path: "deep/er/data.bin",
      sha256: sha(content).toUpperCase(),
    });
    expect(savedOf(result)).toMatchObject({
      path: "deep/er/data.bin",
      bytes: content.length,
      sha256: sha(content),
      alreadyThere: false,
    });
    expect(result.fileChanges).toMatchObject([
      { kind: "create", path: "deep/er/data.bin", after: { version: sha(content) } },
    ]);
    const path = join(directory, "deep/er/data.bin");
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(statSync(path).mode & 0o111).toBe(0);
    expect(parts(directory)).toEqual([]);
  });

  it("down-1: another hash writes nothing", async () => {
    const { test, directory, download } = await setting();
    test.world.on("http://s.pub/x", "text");
    const failure = failureOf(await download({ url: "http://s.pub/x", path: "x.txt", sha256: "0".repeat(64) }));
    expect(failure).toMatchObject({ code: "upstream", details: { sha256: sha("text") } });
    expect(files(directory)).toEqual([]);
    expect(parts(directory)).toEqual([]);
  });

  it("down-2: an existing target is a conflict before the site is asked, unless its hash is the wanted one", async () => {
    const { test, directory, download } = await setting();
    await writeFile(join(directory, "x.txt"), "old");
    test.world.on("http://s.pub/x", "new");
    expect(failureOf(await download({ url: "http://s.pub/x", path: "x.txt" })).code).toBe("conflict");
    expect(readFileSync(join(directory, "x.txt"), "utf8")).toBe("old");
    expect(savedOf(await download({ url: "http://s.pub/x", path: "x.txt", sha256: sha("old") })).alreadyThere).toBe(
      true,
    );
    expect(test.world.dns.queries).toEqual([]);
    expect(savedOf(await download({ url: "http://s.pub/x", path: "x.txt", overwrite: true })).sha256).toBe(sha("new"));
    expect(readFileSync(join(directory, "x.txt"), "utf8")).toBe("new");
    expect(savedOf(await download({ url: "http://s.pub/x", path: "x.txt", overwrite: true })).alreadyThere).toBe(true);
  });

  it("down-5: a proposed name is made safe and stays inside", async () => {
    const { test, directory, download } = await setting();
    await mkdir(join(directory, "into"));
    test.world.on("http://s.pub/get", (_request, response) =>
      response.writeHead(200, { "content-disposition": 'attachment; filename="../../.bashrc"' }).end("x"),
    );
    expect(savedOf(await download({ url: "http://s.pub/get", path: "into" })).path).toBe("into/bashrc");
    test.world.on("http://s.pub/some%20file.txt", "y");
    expect(savedOf(await download({ url: "http://s.pub/some%20file.txt", path: "new/" })).path).toBe(
      "new/some file.txt",
    );
    expect(failureOf(await download({ url: "http://s.pub/get", path: "into" })).code).toBe("conflict");
  });

  it("goes on after a cut by range, and starts over when the validator has changed", async () => {
    const { test, directory, download } = await setting();
    let etag = '"v1"';
    let cut = true;
    test.world.on("http://s.pub/big", (request, response) => {
      const start =
        request.headers["if-range"] === etag ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
      const headers = { etag, "content-length": content.length - start, "content-type": "application/octet-stream" };
      response.writeHead(
        start > 0 ? 206 : 200,
        start > 0 ? { ...headers, "content-range": `bytes ${start}-${content.length - 1}/${content.length}` } : headers,
      );
      if (!cut) return response.end(content.subarray(start));
      return response.write(content.subarray(start, start + 100_000), () => setTimeout(() => response.destroy(), 50));
    });
    const failure = failureOf(await download({ url: "http://s.pub/big", path: "big.bin" }));
    expect(failure).toMatchObject({ code: "upstream", retryable: true, details: { keptBytes: 100_000 } });
    expect(files(directory)).toEqual([]);
    expect(failureOf(await download({ url: "http://s.pub/big", path: "big.bin" })).details).toMatchObject({
      keptBytes: 200_000,
    });
    cut = false;
    expect(savedOf(await download({ url: "http://s.pub/big", path: "big.bin" }))).toMatchObject({
      sha256: sha(content),
      resumedFrom: 200_000,
    });
    cut = true;
    failureOf(await download({ url: "http://s.pub/big", path: "again.bin" }));
    etag = '"v2"';
    cut = false;
    const again = savedOf(await download({ url: "http://s.pub/big", path: "again.bin" }));
    expect(again.sha256).toBe(sha(content));
    expect(again.resumedFrom).toBeUndefined();
  });

  it("keeps no part without a strong validator, and none over the size", async () => {
    const { test, directory, download } = await setting();
    test.world.on("http://s.pub/weak", (_request, response) => {
      response.writeHead(200, { etag: 'W/"v1"', "content-length": 500_000 });
      response.write(content.subarray(0, 1_000), () => setTimeout(() => response.destroy(), 50));
    });
    failureOf(await download({ url: "http://s.pub/weak", path: "a" }));
    test.world.on("http://s.pub/large", (_request, response) => response.writeHead(200, { etag: '"v1"' }).end(content));
    expect(failureOf(await download({ url: "http://s.pub/large", path: "b", max_bytes: 1_000 })).code).toBe(
      "too_large",
    );
    expect(parts(directory)).toEqual([]);
    expect(files(directory)).toEqual([]);
  });

  it("decodes an encoded body, and refuses errors, HTML in place of a file, and paths outside", async () => {
    const { test, directory, download } = await setting();
    test.world.on("http://s.pub/packed", (_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip", etag: '"v"' }).end(gzipSync(content)),
    );
    expect(savedOf(await download({ url: "http://s.pub/packed", path: "packed.bin" })).sha256).toBe(sha(content));
    test.world.on("http://s.pub/login", "<!doctype html><title>Log in</title>");
    expect(failureOf(await download({ url: "http://s.pub/login", path: "archive.zip" })).code).toBe("upstream");
    expect(savedOf(await download({ url: "http://s.pub/login", path: "page.html" })).bytes).toBeGreaterThan(10);
    expect(failureOf(await download({ url: "http://s.pub/gone", path: "gone.bin" })).code).toBe("not_found");
    for (const path of ["../outside.bin", "/etc/outside.bin", ".git/hooks/x", "a\0b"])
      expect(["denied", "invalid_input"], path).toContain(
        failureOf(await download({ url: "http://s.pub/packed", path })).code,
      );
    expect(failureOf(await download({ url: "http://127.0.0.1/x", path: "x" })).code).toBe("denied");
    expect(failureOf(await download({ url: "http://s.pub/packed", path: "x", sha256: "0".repeat(63) })).code).toBe(
      "invalid_input",
    );
    expect(files(directory).sort()).toEqual(["packed.bin", "page.html"]);
  });
});

describe("names", () => {
  it.each([
    ["../../x", "x"],
    ["..\\..\\x.txt", "x.txt"],
    [".bashrc", "bashrc"],
    ["con.txt", "_con.txt"],
    ["LPT1", "_LPT1"],
    ["a\u202egpj.exe", "agpj.exe"],
    ["a\0b?.txt", "ab.txt"],
    ["...", "download"],
    ["", "download"],
  ])("%j becomes %j", (given, expected) => expect(cleanFileName(given)).toBe(expected));

  it("keeps the extension of a long name within 120 bytes", () => {
    const name = cleanFileName(`${"ü".repeat(150)}.tar.gz`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
    expect(name).toMatch(/^ü+\.tar\.gz$/);
  });

  it("takes filename* before filename before the URL", () => {
    expect(downloadName("attachment; filename=\"a.txt\"; filename*=UTF-8''b%20%C3%BC.txt", "http://s.pub/c.txt")).toBe(
      "b ü.txt",
    );
    expect(downloadName('attachment; filename="a \\"q\\".txt"', "http://s.pub/c.txt")).toBe("a q.txt");
    expect(downloadName("inline", "http://s.pub/dir/c.txt?x=1")).toBe("c.txt");
    expect(downloadName(undefined, "http://s.pub/")).toBe("download");
  });
});

const built = existsSync(fileURLToPath(new URL("../../dist/index.js", import.meta.url)));
if (!built) console.warn("SKIPPED: the kill tests need the built packages (pnpm --filter @toolhaft/web... run build)");

describe.skipIf(!built)("killed in the middle", () => {
  it("down-3, down-4: another process goes on, or starts over when the ETag has changed", async () => {
    let etag = '"v1"';
    let slow = true;
    const server = createServer((request, response) => {
      const start =
        request.headers["if-range"] === etag ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
      response.writeHead(start > 0 ? 206 : 200, {
        etag,
        "content-length": content.length - start,
        ...(start > 0 ? { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
      });
      if (!slow) return response.end(content.subarray(start));
      let at = start;
      const timer = setInterval(() => {
        response.write(content.subarray(at, at + 10_000));
        at += 10_000;
      }, 10);
      return response.on("close", () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/big`;
    const allow = [new URL(url).host];
    for (let round = 0; round < Math.max(2, runs(20)); round += 1) {
      const { directory, remove } = await tempWorkspace();
      slow = true;
      etag = '"v1"';
      const child: ChildProcess = fork(
        fileURLToPath(new URL("../fixtures/download.mjs", import.meta.url)),
        [url, directory],
        { stdio: "ignore" },
      );
      const bytes = (): number =>
        parts(directory).reduce((sum, name) => sum + statSync(join(directory, ".toolhaft/downloads", name)).size, 0);
      await expect.poll(bytes, { timeout: 30_000, interval: 5 }).toBeGreaterThan(10_000 * (1 + (round % 10)));
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      expect(files(directory)).toEqual([]);
      slow = false;
      const changed = round % 2 === 1;
      if (changed) etag = '"v2"';
      await using web = createWeb({ net: { allow, minIntervalMs: 0 } });
      const tool = web.tools.find(({ name }) => name === "download_file");
      const result = await tool?.call({ url, path: "big.bin" }, { directory });
      const saved = savedOf(result ?? expect.fail("no tool"));
      expect(saved.sha256).toBe(sha(content));
      expect(saved.resumedFrom === undefined).toBe(changed);
      expect(readFileSync(join(directory, "big.bin")).equals(content)).toBe(true);
      await remove();
    }
  }, 180_000);
});
