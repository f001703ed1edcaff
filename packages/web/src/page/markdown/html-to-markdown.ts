import { parseHtml } from "../parse.ts";
import { judgeVisibility } from "../visibility.ts";
import { toMarkdown } from "./markdown.ts";
import { foldMath } from "./math.ts";
import { adoptNoscriptImages, baseOf } from "./media.ts";
import { prepare } from "./prepare.ts";

/**
 * Markdown of a whole document or fragment: everything a reader can see, nothing left out as boilerplate.
 *
 * @param options.url address of the page; links are resolved against it, or against `<base>`
 * @throws TooManyNodesError over 300,000 nodes
 */
export function htmlToMarkdown(html: string, options: { url: string }): string {
  const document = parseHtml(html);
  foldMath(document);
  adoptNoscriptImages(document);
  const { skip } = judgeVisibility(document);
  prepare(document);
  return toMarkdown(document, { base: baseOf(document, options.url), url: options.url, skip });
}
