import { type IndexedStore, transcriptStore } from "../stores/transcript-store.ts";
import { codexHome } from "./find.ts";
import { codexForker } from "./fork.ts";
import { codexFormat } from "./format.ts";

/**
 * Sessions that Codex keeps on disk.
 *
 * @param options.home its home folder. @default `$CODEX_HOME`, else `~/.codex`
 */
export function codexStore(options: { home?: string } = {}): IndexedStore {
  const home = options.home ?? codexHome();
  return transcriptStore({
    format: codexFormat(home),
    unsupported: {},
    forker: (index, reader) => codexForker(home, index, reader),
  });
}
