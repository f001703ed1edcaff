import { type IndexedStore, transcriptStore } from "../stores/transcript-store.ts";
import { claudeRoots } from "./find.ts";
import { claudeCodeForker } from "./fork.ts";
import { claudeCodeFormat } from "./format.ts";

/**
 * Sessions that Claude Code keeps on disk.
 *
 * @param options.roots configuration folders. @default `$CLAUDE_CONFIG_DIR`, else `~/.config/claude` and `~/.claude`
 */
export function claudeCodeStore(options: { roots?: readonly string[] } = {}): IndexedStore {
  const format = claudeCodeFormat(options.roots ?? claudeRoots());
  return transcriptStore({ format, unsupported: {}, forker: (home, reader) => claudeCodeForker(home, reader) });
}
