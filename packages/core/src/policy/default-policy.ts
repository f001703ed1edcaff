import { type PlacedRule, policyOf } from "./create-policy.ts";
import { filePattern, type Matcher } from "./pattern.ts";
import type { Policy, PolicyRule } from "./types.ts";

/**
 * What holds where nobody says otherwise: files under the roots may be read and written, `.git` is asked for,
 * `.toolhaft` is never written, the network may be fetched, and programs outside the roots may be started. Everything
 * else is asked for.
 *
 * @param directory Absolute; the first root.
 * @param roots All workspace folders. @default [directory]
 */
export function defaultPolicy(directory: string, roots: readonly string[] = [directory]): Policy {
  const spellings = onceRootSpellings([directory, ...roots]);
  const under = (...patterns: readonly string[]): Matcher => {
    let matchers: readonly Matcher[] | undefined;
    return (value) => {
      matchers ??= spellings().flatMap((root) => patterns.map((pattern) => filePattern(pattern, { directory: root })));
      return matchers.some((matches) => matches(value));
    };
  };
  const inside = under("**");
  const rule = (
    effect: PolicyRule["effect"],
    permission: string | readonly string[],
    reason: string,
    resources?: Matcher,
  ): PlacedRule => ({
    rule: { effect, permission, reason },
    directory,
    ...(resources === undefined ? {} : { resources }),
  });
  return policyOf(
    [
      rule("allow", ["file.read", "file.write"], "inside the workspace", inside),
      rule("ask", "file.write", "inside .git", under("**/.git/**")),
      rule("deny", "file.write", "the tools' own state in .toolhaft", under(".toolhaft/**")),
      rule("allow", "net.fetch", "the network may be fetched"),
      rule("allow", "process.start", "a program outside the workspace"),
      rule("ask", "process.start", "a program that the workspace itself brings", inside),
      rule("ask", "workspace.run", "code that the workspace itself chooses"),
    ],
    "ask",
  );
}

/** Each root as given and as its real path, found at the first question: making a policy opens nothing. */
function onceRootSpellings(roots: readonly string[]): () => readonly string[] {
  let found: readonly string[] | undefined;
  return () => {
    found ??= [...new Set(roots.flatMap((root) => [root, realPath(root)]))];
    return found;
  };
}

/** The real path where the runtime has a file system; the path as given for one that does not exist. */
export function realPath(path: string): string {
  const fs = typeof process === "object" ? process.getBuiltinModule?.("node:fs") : undefined;
  if (fs === undefined) return path;
  try {
    return fs.realpathSync.native(path);
  } catch {
    // Absent or not readable: the spelling it was given with is all there is.
    return path;
  }
}
