/** The kinds of page the extractor tells apart. */
export const pageTypes = ["article", "documentation", "product", "listing", "collection", "forum", "service"] as const;
export type PageType = (typeof pageTypes)[number];

/** A remark about how a page was read. Codes are stable, messages are for people and models. */
export interface PageNote {
  code:
    | "charset_conflict"
    | "charset_guessed"
    | "cut"
    | "hidden_text_dropped"
    | "hidden_text_kept"
    | (string & Record<never, never>);
  message: string;
}

/** What the page says about itself. Dates are ISO 8601, as precise as the page gave them; nothing is ever made up. */
export interface PageMetadata {
  title?: string;
  author?: string;
  published?: string;
  modified?: string;
  site?: string;
  /** BCP 47, as written in the page. */
  language?: string;
  description?: string;
  /** Absolute URL. */
  image?: string;
  /** Absolute URL. */
  canonical?: string;
}

/** Data that the page carries beside its text. JSON only: no script of a page is ever run. */
export interface PageData {
  jsonLd: readonly unknown[];
  microdata: readonly unknown[];
  /** Embedded application state by name: `__NEXT_DATA__`, `__NUXT__`, or the id of a JSON script. */
  embedded: Readonly<Record<string, unknown>>;
}

/** One way of finding the main content. */
export type CandidateName = "blocks" | "landmark" | "records" | "data" | "body";

/** The result of {@link extractPage}. */
export interface Extracted {
  type: PageType;
  /** Probability of `type`, 0 to 1. */
  confidence: number;
  title: string | undefined;
  /** Main content as clean HTML with absolute URLs. */
  html: string;
  /** Main content as plain text, a line break between blocks. */
  text: string;
  /** Main content as Markdown. */
  markdown: string;
  metadata: PageMetadata;
  data: PageData;
  /** Which candidate was taken. */
  used: CandidateName;
  /** The page is a shell that scripts would fill, and no embedded data helped. */
  mayNeedJavaScript: boolean;
  notes: readonly PageNote[];
}

export interface ExtractOptions {
  /** Final URL of the page: links are resolved against it, or against `<base>`. */
  url: string;
  /**
   * Keep readers' comments.
   * @default true for forums, false otherwise
   */
  keepComments?: boolean;
  /**
   * The tree that is read: our own parser's, or `"jsdom"` for the one that jsdom 29 (an optional peer) makes, scripts off.
   * Both follow the standard; jsdom's takes several times as long. `"linkedom"` is our own parser's too.
   * @default "linkedom"
   */
  dom?: "linkedom" | "jsdom" | undefined;
  /** Read as an article only: never lists, comments or navigation. An empty `text` means there is no article. */
  only?: "article";
}

/** What a document turned out to be, by its bytes and its label. */
export type PageKind = "html" | "json" | "feed" | "text" | "pdf" | "image" | "binary";

/** Forms in which a document can be asked for; `auto` takes the natural one of its kind. */
export type PageFormat = "auto" | "markdown" | "text" | "html" | "json" | "raw";

export interface ReadPageOptions {
  /** Final URL after redirects. A fragment is looked up in the page, see {@link Page.section}. */
  url: string;
  /** `Content-Type` header as sent, if any. */
  contentType?: string | undefined;
  /** @default "auto" */
  format?: PageFormat | undefined;
  /** CSS; all matches in document order become the content. HTML only. */
  selector?: string | undefined;
  /** The article reading of the `reader` engine. */
  only?: "article" | undefined;
  /**
   * False when `bytes` is only the head of the body: the last half character is left out and a note `cut` is given.
   * @default true
   */
  complete?: boolean | undefined;
  /** As in {@link ExtractOptions.dom}. */
  dom?: "linkedom" | "jsdom" | undefined;
  /** Bytes a `raw` binary may have before it is `too_large`. @default no limit */
  maxRawBytes?: number | undefined;
  /** Ends the work, also inside the worker. */
  signal?: AbortSignal | undefined;
}

/** A document converted to the form that was asked for: always the whole, paging is the caller's. */
export interface Page {
  kind: PageKind;
  /** Media type after sniffing, in lower case without parameters. */
  contentType: string;
  /** WHATWG name of the encoding; absent for binary kinds. */
  charset?: string;
  /** What `content` is. `auto` never stands here. */
  format: Exclude<PageFormat, "auto">;
  content: string;
  /** Set when `content` is binary (`raw` of a binary kind). */
  encoding?: "base64";
  /** The image itself (`auto` of PNG, JPEG, GIF, WebP, AVIF up to 5 MiB); `content` is then one line about it. */
  attachment?: { mediaType: string; bytes: Uint8Array };
  pageType?: PageType;
  title?: string;
  /** HTML, and PDF where the file tells. */
  metadata?: PageMetadata;
  /** HTML only; what `format: "json"` prints together with `metadata`. */
  data?: PageData;
  /** Set when the URL has a fragment and the page has such a section: UTF-16 offset of it in `content`. */
  section?: { id: string; offset: number };
  /** HTML that scripts would fill. With next to no `content` the caller should call it a failure. */
  mayNeedJavaScript: boolean;
  notes: readonly PageNote[];
}

export interface PageReaderOptions {
  /**
   * Convert in a worker thread that is stopped when a document takes more than its time or memory.
   * @default true
   */
  worker?: boolean;
  /** Milliseconds after which an idle worker ends. @default 30_000 */
  idleMs?: number;
  /** Milliseconds one document may take (PDF: `pdfLimitMs`). @default 5_000 */
  limitMs?: number;
  /** @default 20_000 */
  pdfLimitMs?: number;
}

/**
 * Turns bytes into a {@link Page}. `read` throws `ToolError`: `too_large` (too complex, image or raw bytes over the limit),
 * `unsupported` (binary, encrypted PDF, a format or selector this kind cannot give), `invalid_input` (selector),
 * `not_found` (selector matches nothing, no article), `cancelled`.
 */
export interface PageReader extends AsyncDisposable {
  read(bytes: Uint8Array, options: ReadPageOptions): Promise<Page>;
  /** Ends the worker; awaits its end. */
  close(): Promise<void>;
}
