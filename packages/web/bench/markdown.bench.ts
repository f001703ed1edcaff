import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineBench } from "@toolhaft/testing";
import { parseHTML } from "linkedom";
import { z } from "zod";
import { extractPage } from "../src/page/extract.ts";
import { htmlToMarkdown } from "../src/page/markdown/html-to-markdown.ts";
import { dataFolder } from "./pages.ts";

type Converter = (html: string, url: string) => string | Promise<string>;

/** Whole: a page with the case in an article. Plain converters have no step that finds the content, so they are given the article alone. */
interface Peer {
  alone: Converter;
  whole: Converter;
}

const check = z.custom<(markdown: string) => boolean>((value) => typeof value === "function");
const Cases = z.object({
  pageUrl: z.string(),
  cases: z.array(z.object({ id: z.string(), html: z.string(), checks: z.array(check) })),
});

const prose =
  "The harbour of the town was built when ships still came with the tide, and its long wall has kept the water out of the streets ever since the winter of the great flood.";

function pageAround(html: string): string {
  return `<!doctype html><html><head><title>The harbour</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>The harbour</h1><p>${prose} It was mended twice.</p>${html}<p>${prose} Nobody remembers who paid.</p></article></main><footer>Imprint</footer></body></html>`;
}

const articleOf = (html: string): string => parseHTML(html).document.querySelector("article")?.innerHTML ?? "";
const plain = (alone: Converter): Peer => ({ alone, whole: (html, url) => alone(articleOf(html), url) });

async function peers(): Promise<Record<string, Peer>> {
  const { default: Turndown } = await import("turndown");
  const { gfm } = await import("@joplin/turndown-plugin-gfm");
  const { unified } = await import("unified");
  const { default: rehypeParse } = await import("rehype-parse");
  const { default: rehypeRemark } = await import("rehype-remark");
  const { default: remarkGfm } = await import("remark-gfm");
  const { default: remarkStringify } = await import("remark-stringify");
  const mdream = await import("@mdream/js");
  const { Defuddle } = await import("defuddle/node");
  const marks = { headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" };
  const rehype = unified().use(rehypeParse, { fragment: true }).use(rehypeRemark).use(remarkGfm).use(remarkStringify);
  const defuddled: Converter = async (html, url) => {
    const page = /<html/i.test(html) ? html : `<html><body><article>${html}</article></body></html>`;
    return (await Defuddle(parseHTML(page).document, url, { markdown: true })).content;
  };
  return {
    ours: {
      alone: (html, url) => htmlToMarkdown(html, { url }),
      whole: (html, url) => extractPage(html, { url }).markdown,
    },
    turndown: plain((html) => new Turndown(marks).turndown(html)),
    "turndown + gfm plugin": plain((html) => new Turndown(marks).use(gfm).turndown(html)),
    "rehype-remark": plain(async (html) => String(await rehype.process(html))),
    mdream: {
      alone: (html, url) => mdream.htmlToMarkdown(html, { origin: new URL(url).origin }),
      whole: (html, url) => mdream.htmlToMarkdown(html, mdream.withMinimalPreset({ origin: new URL(url).origin })),
    },
    "defuddle's Markdown": { alone: defuddled, whole: defuddled },
  };
}

/** How many of the conversion cases come out right, alone and inside an article page. */
export default defineBench(async (bench) => {
  const file = join(dataFolder, "markdown-cases.mjs");
  if (!existsSync(file)) return bench.skip("Markdown", `no cases at ${file}; set TOOLHAFT_DATA`);
  const { pageUrl, cases } = Cases.parse({ ...(await import(pathToFileURL(file).href)) });
  const rows: [string, number, number][] = [];
  for (const [name, { alone, whole }] of Object.entries(await peers())) {
    const right = [0, 0];
    for (const { html, checks } of cases)
      for (const [at, convert] of [alone, whole].entries()) {
        const markdown = await attempt(convert, at === 0 ? html : pageAround(html), pageUrl);
        if (checks.every((holds) => holds(markdown))) right[at] = (right[at] ?? 0) + 1;
      }
    rows.push([name, right[0] ?? 0, right[1] ?? 0]);
  }
  bench.table(`Markdown, right of ${cases.length} cases`, ["converter", "alone", "in a page"], rows);
  const [ours, ...others] = rows;
  for (const [name, at] of [
    ["alone", 1],
    ["in a page", 2],
  ] as const) {
    const best = others.reduce((top, row) => (row[at] > top[at] ? row : top));
    const value = ours?.[at] ?? 0;
    bench.figure({
      name,
      ours: value,
      baseline: { name: best[0], value: best[at] },
      unit: "cases",
      target: { min: 1 },
    });
    bench.figure({
      name,
      ours: value,
      baseline: { name: "all", value: cases.length },
      unit: "cases",
      target: { min: 1 },
    });
  }
});

/** A converter that throws has not converted. */
async function attempt(convert: Converter, html: string, url: string): Promise<string> {
  try {
    return await convert(html, url);
  } catch (error) {
    return `failed: ${error}`;
  }
}
