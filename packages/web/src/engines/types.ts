import type { NetScope } from "@toolhaft/net";
import type { PageFormat } from "../page/types.ts";
import type { WebNote } from "../types.ts";

/** What an engine is asked for. */
export interface PageQuery {
  url: string;
  format: PageFormat;
  selector: string | undefined;
  headers: Readonly<Record<string, string>>;
  /** What the request asks for when the caller's headers do not. */
  accept: string;
  timeoutMs: number;
  allowErrorStatus: boolean;
  maxRawBytes: number | undefined;
}

/** Bytes with their story, before they are read as a page. */
export interface Fetched {
  finalUrl: string;
  status: number;
  redirects: readonly { status: number; from: string; to: string }[];
  headers: ReadonlyMap<string, string>;
  bytes: Uint8Array;
  contentType: string | undefined;
  notes: readonly WebNote[];
}

export type Scope = NetScope & { signal: AbortSignal };
