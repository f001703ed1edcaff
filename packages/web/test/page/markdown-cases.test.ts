import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { dataFolder } from "../../bench/pages.ts";
import { extractPage } from "../../src/page/extract.ts";
import { htmlToMarkdown } from "../../src/page/markdown/html-to-markdown.ts";

const file = join(dataFolder, "markdown-cases.mjs");
interface Case {
  id: string;
  html: string;
  checks: readonly ((markdown: string) => boolean)[];
}
const { cases, pageUrl }: { cases: readonly Case[]; pageUrl: string } = existsSync(file)
  ? await import(pathToFileURL(file).href)
  : { cases: [], pageUrl: "" };
const prose =
  "<p>The first release came in spring, and it brought the changes that many users had asked for since the year before. A second one followed, which mended what the first had broken.</p>";

describe.skipIf(cases.length === 0)(`Markdown cases of ${file} (skipped where the data is absent)`, () => {
  test.each(cases)("$id alone", ({ html, checks }) => {
    const markdown = htmlToMarkdown(html, { url: pageUrl });
    expect(checks.map((check) => check(markdown))).toEqual(checks.map(() => true));
  });

  test.each(cases)("$id inside an article", ({ html, checks }) => {
    const page = `<html><head><title>Release notes</title></head><body><article><h1>Release notes</h1>${prose.repeat(3)}${html}${prose.repeat(3)}</article></body></html>`;
    const { markdown } = extractPage(page, { url: pageUrl });
    // The length check of one case is about the case alone.
    const long = markdown.length > 500;
    const kept = checks.filter((check) => !(long && String(check).includes("m.length")));
    expect(
      kept.map((check) => check(markdown)),
      markdown,
    ).toEqual(kept.map(() => true));
  });
});
