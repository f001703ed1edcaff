import { createHash } from "node:crypto";

const longest = 60;

/**
 * The file name for a name, without its ending. Letters, digits, `.`, `_` and `-` stay; where anything else was, or case,
 * or length, a part of the name's hash follows `~`, so that two names never share a file.
 */
export function fileKey(name: string): string {
  const composed = name.normalize("NFC");
  const slug = composed
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, longest);
  if (slug === composed) return slug;
  return `${slug}~${createHash("sha256").update(composed).digest("hex").slice(0, 12)}`;
}
