import { type Clock, systemClock } from "@toolhaft/core";
import { type ArtifactStore, contentState } from "./artifact.ts";
import { fileKey } from "./key.ts";

/** Artifacts that live as long as the process. */
export function memoryArtifacts(options: { clock?: Clock } = {}): ArtifactStore {
  const clock = options.clock ?? systemClock;
  const kept = new Map<string, Map<string, { text: string; kind: "text" | "payload"; at: number }>>();
  const info: ArtifactStore["stat"] = async (session, given) => {
    const name = given.normalize("NFC");
    const entry = kept.get(session)?.get(name);
    const path = `memory:${fileKey(name)}${entry?.kind === "payload" ? ".json" : ".md"}`;
    if (!entry) return { name: given, state: "missing", path, bytes: 0, modifiedAt: 0 };
    const bytes = new TextEncoder().encode(entry.text).length;
    return { name: given, state: contentState(entry.text), path, bytes, modifiedAt: entry.at };
  };
  return {
    stat: info,
    read: async (session, name) => kept.get(session)?.get(name.normalize("NFC"))?.text,
    async write(session, name, text, kind = "text") {
      const artifacts = kept.get(session) ?? new Map();
      artifacts.set(name.normalize("NFC"), { text, kind, at: clock.now() });
      kept.set(session, artifacts);
      return info(session, name);
    },
    list: (session) => Promise.all([...(kept.get(session)?.keys() ?? [])].sort().map((name) => info(session, name))),
  };
}
