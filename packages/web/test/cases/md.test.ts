import { describe, expect, test } from "vitest";
import { htmlToMarkdown } from "../../src/page/markdown/html-to-markdown.ts";

const url = "https://ex.com/docs/page";
const md = (html: string): string => htmlToMarkdown(html, { url });

describe("Markdown", () => {
  test("md-1: the language of highlighted code", () => {
    expect(md('<pre><code class="hljs python">x = 1</code></pre>')).toBe("```python\nx = 1\n```");
  });

  test("md-2: line numbers in a gutter are no code", () => {
    expect(
      md("<table><tr><td class=gutter><pre>1\n2</pre></td><td class=code><pre>puts 1\nputs 2</pre></td></tr></table>"),
    ).toBe("```\nputs 1\nputs 2\n```");
  });

  test("md-3: line elements are lines, blanks stay", () => {
    expect(md("<pre><div>if x:</div><div><span>  </span><span>y()</span></div></pre>")).toBe("```\nif x:\n  y()\n```");
  });

  test("md-4: the real source of a lazy image", () => {
    expect(md('<p><img src="data:image/gif;base64,R0" data-src="/real.jpg" alt="L"></p>')).toBe(
      "![L](https://ex.com/real.jpg)",
    );
  });

  test("md-5: a table without header row, with a pipe and two paragraphs in a cell", () => {
    expect(md("<table><tr><td>x|y</td><td><p>a</p><p>b</p></td></tr><tr><td>1</td><td>2</td></tr></table>")).toBe(
      "|  |  |\n| --- | --- |\n| x\\|y | a<br>b |\n| 1 | 2 |",
    );
  });

  test("md-6: a formula once, by its source", () => {
    expect(
      md(
        '<p><span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2+1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2+1</span></span></p>',
      ),
    ).toBe("$x^2+1$");
  });

  test("md-7: links that lead nowhere become text, others follow the base", () => {
    expect(md('<base href="https://ex.com/a/b/"><p><a href="javascript:x()">go</a> <a href="../b">up</a></p>')).toBe(
      "go [up](https://ex.com/a/b)",
    );
  });

  test("a nested list outside of any item belongs to the item before", () => {
    expect(md("<ul><li>a</li><ul><li>b</li></ul></ul>")).toBe("- a\n  - b");
  });

  test("row spans repeat, column spans fill", () => {
    expect(
      md("<table><tr><th rowspan=2>A</th><th>B</th></tr><tr><td>1</td></tr><tr><td colspan=2>w</td></tr></table>"),
    ).toBe("| A | B |\n| --- | --- |\n| A | 1 |\n| w |  |");
  });

  test("emphasis with punctuation beside Chinese is written so that CommonMark reads it", () => {
    expect(md("<p>这是<strong>重要。</strong>的</p>")).toBe("这是**重要**。的");
  });
});
