import { describe, expect, it } from "vitest";
import { extractPage } from "../../src/extract.ts";
import { textContent } from "../../src/page/dom.ts";
import { jsdomTree } from "../../src/page/jsdom-tree.ts";
import { parseHtml } from "../../src/page/parse.ts";

const url = "https://ex.com/";

describe("jsdom's tree", () => {
  it.each([
    ["a fragment", "<p>one<p>two"],
    ["no body", "<!doctype html><title>t</title><h1>x</h1>"],
    ["tables without tbody", "<table><tr><td>a<td>b<tr><td>c</table>"],
    ["what a table may not hold", "<table><p>out</p><tr><td>in</td></tr></table>"],
    ["badly nested inline elements", "<b><i>one</b>two</i>three"],
    ["a template and a noscript", "<template><p>t</p></template><noscript><p>n</p></noscript>"],
    ["pictures in lines", "<svg><title>s</title></svg><math><mi>x</mi></math>"],
  ])("holds the text of our own: %s", (_kind, html) => {
    expect(textContent(jsdomTree(html, url))).toBe(textContent(parseHtml(html)));
  });

  it("is read where it is asked for, and capped in depth", () => {
    const html = `<main><h1>Guide</h1>${"<p>A page with enough words in it to be read as what it is.</p>".repeat(5)}</main>`;
    expect(extractPage(html, { url, dom: "jsdom" }).markdown).toBe(extractPage(html, { url }).markdown);
    expect(textContent(jsdomTree(`${"<div>".repeat(900)}deep`, url))).toContain("deep");
  });
});
