import type { Document } from "domhandler";
import { jsdomTree } from "./jsdom-tree.ts";
import { parseHtml } from "./parse.ts";

export interface ParseOptions {
  url: string;
  dom?: "linkedom" | "jsdom" | undefined;
}

/** The tree of a page: our own parser's, or a copy of jsdom's where that is asked for. */
export function parsePage(html: string, { url, dom }: ParseOptions): Document {
  return dom === "jsdom" ? jsdomTree(html, url) : parseHtml(html);
}
