import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { snapshotOf, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { command } from "./command.ts";

interface Line {
  name: string;
  status: string;
  detail: string;
  install?: string;
}

/** A report as JSON, and by name. */
async function report(cwd: string, env: Record<string, string> = {}) {
  const { code, out, err } = await command(["doctor", "--json"], { cwd, env });
  const lines: Line[] = JSON.parse(out);
  return { code, err, lines, of: (name: string) => lines.find((line) => line.name === name) };
}

describe("toolhaft doctor", () => {
  it("on a bare machine names what is missing with the line to type, and writes nothing", async () => {
    const workspace = await tempWorkspace({ "a.py": "x = 1\n" });
    const before = await snapshotOf(workspace.directory);
    const { code, of, lines } = await report(workspace.directory, { PATH: "/nonexistent" });
    expect(of("node")?.status).toBe("ok");
    expect(of("git")).toMatchObject({ status: "missing", install: expect.stringContaining("git") });
    expect(of("chromium")).toMatchObject({ status: "missing", install: expect.stringContaining("chromium") });
    expect(of("sqlite")).toMatchObject({ status: "ok", detail: expect.stringContaining("FTS5") });
    expect(of("state folder")).toMatchObject({ status: "ok", detail: expect.stringContaining("can be made") });
    expect(of("search")?.status).toBe("ok");
    expect(of("config")).toMatchObject({ status: "ok", detail: "none in this folder" });
    expect(lines.some(({ name }) => name.startsWith("language server"))).toBe(true);
    for (const { status, install, detail } of lines) if (status === "missing") expect(install ?? detail).toBeTruthy();
    // Nothing that a config chose is missing.
    expect(code).toBe(0);
    expect(await snapshotOf(workspace.directory)).toEqual(before);
    await workspace.remove();
  });

  it("finds what is there", async () => {
    const workspace = await tempWorkspace();
    const programs = await tempWorkspace({ chromium: "#!/bin/sh\n", git: '#!/bin/sh\necho "git version 2.0"\n' });
    for (const name of ["chromium", "git"]) await chmod(programs.path(name), 0o755);
    const { of } = await report(workspace.directory, { PATH: programs.directory });
    expect(of("chromium")).toMatchObject({ status: "ok", detail: programs.path("chromium") });
    expect(of("git")).toMatchObject({ status: "ok", detail: "git version 2.0" });
    const given = await report(workspace.directory, { PATH: "", CHROMIUM_PATH: "/not/there" });
    expect(given.of("chromium")).toMatchObject({ status: "broken", detail: expect.stringContaining("CHROMIUM_PATH") });
    expect(given.code).toBe(1);
    await programs.remove();
    await workspace.remove();
  });

  it("prints lines for people, then what to type", async () => {
    const workspace = await tempWorkspace();
    const { code, out } = await command(["doctor"], { cwd: workspace.directory, env: { PATH: "/nonexistent" } });
    expect(code).toBe(0);
    expect(out).toMatch(/^status +what +detail\nok +node +v\d+/);
    expect(out).toMatch(/\nTo mend it:\n {2}git: .*git\n/);
    await workspace.remove();
  });

  it.each<[string, string, string, string]>([
    ["a broken config", "{", "config", "broken"],
    ["a family that is not there", '{"families": ["fixture", "nothing"]}', "family nothing", "missing"],
    [
      "a program of a trusted server",
      '{"mcpServers": {"x": {"command": "no-such-program"}}}',
      "MCP server x",
      "missing",
    ],
  ])("%s: exit code 1", async (_what, config, name, status) => {
    const workspace = await tempWorkspace({ "toolhaft.config.json": config });
    const home = await tempWorkspace();
    await command(["trust"], { cwd: workspace.directory, env: { HOME: home.directory } });
    const { code, of } = await report(workspace.directory, { HOME: home.directory });
    expect(of(name)).toMatchObject({ status });
    expect(code).toBe(1);
    await home.remove();
    await workspace.remove();
  });

  it("tells of a state folder that is none or closed", async () => {
    const workspace = await tempWorkspace({ ".toolhaft": "a file" });
    const { of, code } = await report(workspace.directory);
    expect(of("state folder")).toMatchObject({ status: "broken", install: expect.stringContaining("mv ") });
    expect(code).toBe(1);
    await workspace.remove();
  });

  it("looks whether the database of TOOLHAFT_STORE answers", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const workspace = await tempWorkspace();
    const store = (to: number) => ({ TOOLHAFT_STORE: `postgres://user:secret@127.0.0.1:${to}/db` });
    const there = await report(workspace.directory, store(port));
    expect(there.of("postgres")).toMatchObject({ status: "ok" });
    expect(JSON.stringify(there.lines)).not.toContain("secret");
    server.close();
    await new Promise((resolve) => server.once("close", resolve));
    const gone = await report(workspace.directory, store(port));
    expect(gone.of("postgres")).toMatchObject({ status: "broken" });
    expect(gone.code).toBe(1);
    await workspace.remove();
  });

  it("says that a config waits for trust", async () => {
    const workspace = await tempWorkspace();
    await writeFile(workspace.path("toolhaft.config.json"), '{"allow": ["*"]}');
    const { of } = await report(workspace.directory);
    expect(of("config trust")).toMatchObject({ status: "missing", install: "toolhaft trust" });
    await workspace.remove();
  });
});
