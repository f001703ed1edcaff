import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { clientTable } from "./client-table.ts";
import { connect } from "./clients.ts";

describe("over stdio", () => clientTable("stdio"));

describe("a server without a folder of its own", () => {
  it.each(["/", process.env.HOME ?? "/root"])(
    "roots-1: started in %s it runs, files are unavailable, nothing is made",
    async (cwd) => {
      const name = `fixture-${process.pid}.txt`;
      const client = await connect("v1", { cwd, server: { file: name } });
      expect((await client.call("echo", { text: "alive" })).text).toBe("alive");
      const result = await client.call("where", {});
      expect(result.isError).toBe(true);
      expect(result.text).toMatch(/^unavailable: /);
      expect(result.text).toContain("--directory");
      expect(existsSync(`${cwd}/${name}`)).toBe(false);
      expect(existsSync(`${cwd}/.toolhaft`)).toBe(false);
      await client.close();
    },
  );

  it("takes a root that is / or the home folder for none", async () => {
    const home = await tempWorkspace();
    const client = await connect("v1", {
      cwd: home.directory,
      roots: () => ["file:///", pathToFileURL(process.env.HOME ?? "/root").href],
    });
    expect((await client.call("where", {})).text).toMatch(/^unavailable: /);
    await client.close();
    await home.remove();
  });
});

describe("what a client may not use", () => {
  it("is neither listed nor told apart from what does not exist", async () => {
    const home = await tempWorkspace();
    await mkdir(home.path("sub"));
    const client = await connect("v1", { cwd: home.directory, server: { deny: ["defaults", "fails"] } });
    const names = (await client.list()).map(({ name }) => name);
    expect(names).not.toContain("defaults");
    expect(names).toContain("echo");
    const [hidden, absent] = await Promise.all([
      client.call("defaults", { owner: "a" }).catch((error: Error) => error.message),
      client.call("defaulty", { owner: "a" }).catch((error: Error) => error.message),
    ]);
    expect(String(hidden).replaceAll("defaults", "X")).toBe(String(absent).replaceAll("defaulty", "X"));
    await client.close();
    await home.remove();
  });
});
