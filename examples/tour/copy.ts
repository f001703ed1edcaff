import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const made = new Set(["node_modules", "dist", ".git", ".toolhaft", "coverage"]);

/** Every file of the repository that is its own: what git tracks, or everything that is not made. */
export function filesOf(repository: string): string[] {
  if (existsSync(join(repository, ".git"))) {
    const listed = execFileSync("git", ["ls-files", "-z"], {
      cwd: repository,
      encoding: "utf8",
      maxBuffer: 64 * 1_024 * 1_024,
    });
    return listed.split("\0").filter((name) => name !== "" && existsSync(join(repository, name)));
  }
  const visit = (folder: string): string[] =>
    readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
      if (made.has(entry.name)) return [];
      const name = join(folder, entry.name);
      return entry.isDirectory() ? visit(name) : entry.isFile() ? [name] : [];
    });
  return visit("");
}

/** One hash over names and bytes of the files. */
export function fingerprint(repository: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const name of files) {
    const path = join(repository, name);
    hash.update(name).update("\0");
    if (existsSync(path) && statSync(path).isFile()) hash.update(readFileSync(path));
    hash.update("\0");
  }
  return hash.digest("hex");
}

/** Copies the files into a folder of their own under the system's temporary folder. */
export function copyOf(repository: string, files: readonly string[]): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "toolhaft-tour-")));
  for (const name of files) {
    if (!statSync(join(repository, name)).isFile()) continue;
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    copyFileSync(join(repository, name), join(copy, name));
  }
  return copy;
}
