import type { Clock } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { SessionForker, SessionStore } from "../store.ts";
import type { TranscriptFormat } from "../transcripts/format.ts";
import { TranscriptReader } from "../transcripts/reader.ts";

/** What the family gives a store that reads a host's files: the one index, the clock, the bounds. */
export interface IndexHome {
  database(): Promise<Database>;
  clock: Clock;
  maxLineBytes: number;
}

/** A store of a host's files; it answers once the family has given it an index. */
export interface IndexedStore {
  readonly source: string;
  attach(home: IndexHome): SessionStore;
}

export interface TranscriptStoreOptions {
  format: TranscriptFormat;
  unsupported: SessionStore["unsupported"];
  forker?(home: IndexHome, reader: TranscriptReader): SessionForker;
  close?(): Promise<void>;
}

/** A store over line-based transcripts of one host. */
export function transcriptStore(options: TranscriptStoreOptions): IndexedStore {
  const { format, unsupported } = options;
  return {
    source: format.source,
    attach(home) {
      const reader = new TranscriptReader({ ...home, format });
      const forker = options.forker?.(home, reader);
      return {
        source: format.source,
        reader,
        ...(forker !== undefined && { forker }),
        unsupported,
        async [Symbol.asyncDispose]() {
          await options.close?.();
        },
      };
    },
  };
}
