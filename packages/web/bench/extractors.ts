import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { extractFrom, extractPage, type Weights } from "../src/page/extract.ts";
import { parseHtml } from "../src/page/parse.ts";
import type { Extracted } from "../src/page/types.ts";
import { type BenchPage, foldOf } from "./pages.ts";

/** Hosts are dealt into so many folds; weights of `folds/N` never saw the pages of fold N. */
export const folds = 5;
export const heldOutName = "ours, held out";
export const shippedName = "ours, shipped weights";

/** What an extractor made of a page. `html` stands in place of `text` where it gives no plain text. */
export interface Found {
  text?: string | undefined;
  html?: string | undefined;
  markdown?: string | undefined;
  title?: string | undefined;
  author?: string | undefined;
  date?: string | undefined;
}

export type Extractor = (html: string, page: BenchPage) => Found | Promise<Found>;

const linked = (html: string) =>
  parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`).document;

const given = (value: string | null | undefined): string | undefined => value ?? undefined;

function foundBy({ text, markdown, metadata }: Extracted): Found {
  return { text, markdown, title: metadata.title, author: metadata.author, date: metadata.published };
}

async function foldWeights(fold: number): Promise<Weights> {
  const { blockWeights } = await import(`./folds/${fold}/blocks.ts`);
  const { typeWeights } = await import(`./folds/${fold}/types.ts`);
  return { blocks: blockWeights, types: typeWeights };
}

function read(document: ConstructorParameters<typeof Readability>[0]): Found {
  const article = new Readability(document).parse();
  return {
    html: article?.content ?? "",
    title: given(article?.title),
    author: given(article?.byline),
    date: given(article?.publishedTime),
  };
}

/** Every npm extractor that installs on Node 20, by the name it is printed under. Each is loaded when it is asked for. */
export const extractors: Readonly<Record<string, () => Promise<Extractor>>> = {
  [heldOutName]: async () => {
    const weights = await Promise.all(Array.from({ length: folds }, (_, fold) => foldWeights(fold)));
    return (html, page) => {
      const own = weights[foldOf(page, folds)];
      if (!own) throw new Error("no weights for this fold");
      return foundBy(extractFrom(parseHtml(html), html.length, { url: page.url }, own));
    };
  },
  [shippedName]:
    async () =>
    (html, { url }) =>
      foundBy(extractPage(html, { url })),
  "Readability + linkedom": async () => (html) => read(linked(html)),
  "Readability + jsdom": async () => {
    const { JSDOM, VirtualConsole } = await import("jsdom");
    return (html, { url }) => {
      const { window } = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
      const found = read(window.document);
      window.close();
      return found;
    };
  },
  "defuddle + linkedom": async () => {
    const { Defuddle } = await import("defuddle/node");
    return async (html, { url }) => {
      const { content, title, author, published } = await Defuddle(linked(html), url);
      return { html: content, title, author, date: published };
    };
  },
  "article-extractor": async () => {
    const { extractFromHtml } = await import("@extractus/article-extractor");
    return async (html, { url }) => {
      const article = await extractFromHtml(html, url);
      return {
        html: given(article?.content) ?? "",
        title: given(article?.title),
        author: given(article?.author),
        date: given(article?.published),
      };
    };
  },
  unfluff: async () => {
    const { default: unfluff } = await import("unfluff");
    return (html) => {
      const { text, title, author, date } = unfluff(html);
      return { text, title, author: author.join(", "), date };
    };
  },
  mdream: async () => {
    const { htmlToMarkdown, withMinimalPreset } = await import("@mdream/js");
    return (html, { url }) => ({
      text: plainOf(htmlToMarkdown(html, withMinimalPreset({ origin: new URL(url).origin }))),
    });
  },
  "<main> cut": async () => (html) => {
    const document = linked(html);
    return { html: (document.querySelector("main, [role=main], article") ?? document.body).innerHTML };
  },
  "body text": async () => (html) => {
    const { body } = linked(html);
    for (const element of body.querySelectorAll("script, style, noscript, template")) element.remove();
    return { html: body.innerHTML };
  },
};

/** Markdown without its marks, as a reader sees it. */
function plainOf(markdown: string): string {
  return markdown
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[#>\s*+-]+|[*_`|~]+/gm, " ");
}

/** Plain text of an extractor's HTML, a line for each block. */
export function textOf(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const blocks = "p,div,li,h1,h2,h3,h4,h5,h6,td,th,tr,br,pre,blockquote,section,article,dt,dd,figcaption";
  for (const element of document.querySelectorAll(blocks)) element.append("\n");
  return document.body.textContent ?? "";
}
