import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { type PageType, pageTypes } from "../src/page/types.ts";

/** Folder of the web data; set TOOLHAFT_DATA where the data lies elsewhere. */
export const dataFolder = join(
  process.env.TOOLHAFT_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url)),
  "web",
);

export function hasData(): boolean {
  return existsSync(join(dataFolder, "page-types", "pages.json"));
}

export interface BenchPage {
  id: string;
  set: "articles" | "types";
  url: string;
  type: PageType;
  html: Buffer;
  /** Main content that is wanted. */
  truth: string;
  with: readonly string[];
  without: readonly string[];
  title: string | null;
  author: string | null;
  date: string | null;
}

/** Pages of each type in the full development set: what the weighted mean weighs by. */
export const typeWeights: Readonly<Record<PageType, number>> = {
  article: 793,
  service: 165,
  product: 119,
  collection: 117,
  forum: 113,
  listing: 99,
  documentation: 91,
};

const ArticleTruth = z.record(z.string(), z.object({ articleBody: z.string(), url: z.string() }));
const PageTypes = z.record(z.string(), z.object({ page_type: z.enum(pageTypes) }));
const PageTruth = z.object({
  url: z.string(),
  ground_truth: z.object({
    main_content: z.string(),
    with: z.array(z.string()).nullish(),
    without: z.array(z.string()).nullish(),
    title: z.string().nullish(),
    author: z.string().nullish(),
    publish_date: z.string().nullish(),
  }),
});

export function articlePages(): BenchPage[] {
  const folder = join(dataFolder, "article-benchmark");
  const truths = ArticleTruth.parse(JSON.parse(readFileSync(join(folder, "ground-truth.json"), "utf8")));
  return Object.entries(truths)
    .filter(([id]) => existsSync(join(folder, "html", `${id}.html.gz`)))
    .map(([id, { articleBody, url }]) => ({
      id,
      set: "articles" as const,
      url,
      type: "article" as const,
      html: gunzipSync(readFileSync(join(folder, "html", `${id}.html.gz`))),
      truth: articleBody,
      with: [],
      without: [],
      title: null,
      author: null,
      date: null,
    }));
}

export function typedPages(): BenchPage[] {
  const folder = join(dataFolder, "page-types");
  const types = PageTypes.parse(JSON.parse(readFileSync(join(folder, "pages.json"), "utf8")));
  return Object.entries(types).map(([id, { page_type }]) => {
    const { url, ground_truth } = PageTruth.parse(
      JSON.parse(readFileSync(join(folder, "ground-truth", `${id}.json`), "utf8")),
    );
    return {
      id,
      set: "types" as const,
      url,
      type: page_type,
      html: gunzipSync(readFileSync(join(folder, "html", `${id}.html.gz`))),
      truth: ground_truth.main_content,
      with: ground_truth.with ?? [],
      without: ground_truth.without ?? [],
      title: ground_truth.title ?? null,
      author: ground_truth.author ?? null,
      date: ground_truth.publish_date ?? null,
    };
  });
}

/** Fold of a page by its host, so that two pages of one site never stand on both sides. */
export function foldOf(page: BenchPage, folds: number): number {
  const host = URL.canParse(page.url) ? new URL(page.url).hostname.replace(/^www\./, "") : page.url;
  let hash = 2_166_136_261;
  for (const char of host) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return hash % folds;
}
