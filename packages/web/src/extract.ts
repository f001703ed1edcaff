import { type DecodedBody, decodeBody } from "./page/charset.ts";
import { extractPage } from "./page/extract.ts";
import { htmlToMarkdown } from "./page/markdown/html-to-markdown.ts";

export type {
  CandidateName,
  Extracted,
  ExtractOptions,
  PageData,
  PageMetadata,
  PageNote,
  PageType,
} from "./page/types.ts";
export { type DecodedBody, decodeBody, extractPage, htmlToMarkdown };
