import { createHash } from "node:crypto";
import type { Page } from "./page/types.ts";
import type { WebNote } from "./types.ts";
import { cleanForeign, oneLine } from "./untrusted.ts";

/** One fetched and converted resource with its version: always the whole, parts are cut from it. */
export interface Document {
  url: string;
  finalUrl: string;
  status: number;
  redirects: readonly { status: number; from: string; to: string }[];
  engine: string;
  page: Page;
  /** Tells two texts apart. */
  version: string;
  notes: readonly WebNote[];
  /** Milliseconds since the epoch until which it may be used without asking. */
  freshUntil: number;
  /** What a conditional request asks with. */
  validators: { etag?: string; lastModified?: string };
  /** May be used for another first part; otherwise only for the next parts of this one. */
  reusable: boolean;
}

export interface DocumentSource {
  url: string;
  finalUrl: string;
  status: number;
  redirects: Document["redirects"];
  engine: string;
  page: Page;
  notes: readonly WebNote[];
}

/** Cleans what a site wrote and gives the text its version. `raw` is kept as it is; its text is cleaned where it is shown. */
export function toDocument(
  source: DocumentSource,
  keep: Pick<Document, "freshUntil" | "validators" | "reusable">,
): Document {
  const { page } = source;
  const verbatim = page.format === "raw" || page.encoding === "base64";
  const { text, notes } = verbatim ? { text: page.content, notes: [] } : cleanForeign(page.content);
  const section = page.section;
  const cleaned: Page = {
    ...page,
    content: text,
    ...(page.title === undefined ? {} : { title: oneLine(page.title) }),
  };
  const sectionNotes =
    section === undefined
      ? []
      : [{ code: "section_at", message: `the section #${section.id} starts at character ${section.offset}` }];
  return {
    url: source.url,
    finalUrl: source.finalUrl,
    status: source.status,
    redirects: source.redirects,
    engine: source.engine,
    page: cleaned,
    version: createHash("sha256").update(text).digest("hex").slice(0, 16),
    notes: [...source.notes, ...page.notes, ...notes, ...sectionNotes],
    ...keep,
  };
}
