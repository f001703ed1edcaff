import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";

export interface WalkedFile {
  /** Relative, with "/". */
  path: string;
  bytes: number;
  modifiedAt: number;
}

interface Rules {
  /** Folder of the `.gitignore`, with "/" at its end, or empty. */
  base: string;
  matcher: Ignore;
}

const never = new Set([".git", ".hg", ".svn", "node_modules", ".toolhaft"]);
const secretNames =
  /^(?:\.env(?:\..*)?|\.envrc|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519).*|credentials?(?:\..*)?|secrets?(?:\..*)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg))$/i;

/** Whether a name says that secrets are inside. */
export function looksSecret(name: string): boolean {
  return secretNames.test(name);
}

/**
 * Regular files below a folder, those near the top first, without what a `.gitignore` on the way names. Links are not
 * followed.
 *
 * @throws when the folder itself cannot be read
 */
export async function* walkFiles(directory: string, signal: AbortSignal): AsyncGenerator<WalkedFile> {
  const pending: { folder: string; rules: readonly Rules[] }[] = [{ folder: "", rules: [] }];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    signal.throwIfAborted();
    const { folder } = next;
    const entries = await entriesOf(join(directory, folder), folder === "");
    const rules = await withOwn(
      directory,
      folder,
      next.rules,
      entries.some(({ name }) => name === ".gitignore"),
    );
    for (const entry of entries) {
      const path = folder + entry.name;
      if (never.has(entry.name) || isIgnored(path, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory()) pending.push({ folder: `${path}/`, rules });
      else if (entry.isFile() && !looksSecret(entry.name)) {
        const stat = await lstat(join(directory, path)).catch(() => undefined);
        if (stat?.isFile()) yield { path, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs) };
      }
    }
  }
}

/** A folder below that cannot be read is passed over, as one that is ignored. */
async function entriesOf(path: string, isTop: boolean) {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isTop) throw error;
    return [];
  }
}

async function withOwn(
  directory: string,
  base: string,
  rules: readonly Rules[],
  hasOwn: boolean,
): Promise<readonly Rules[]> {
  if (!hasOwn) return rules;
  const text = await readFile(join(directory, base, ".gitignore"), "utf8").catch(() => "");
  return [...rules, { base, matcher: ignore().add(text) }];
}

/** The innermost file that says something about a path decides. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { base, matcher } of [...rules].reverse()) {
    const { ignored, unignored } = matcher.test(path.slice(base.length) + (isFolder ? "/" : ""));
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}
