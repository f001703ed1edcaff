import { describe, expect, it } from "vitest";
import { createMatcher, strengths } from "../src/match.ts";
import { snippetOf } from "../src/snippet.ts";
import { topicTerms } from "../src/words.ts";

const strengthIn = (term: string, text: string): number => strengths(createMatcher([term])(text), 1)[0] ?? 0;

describe("topicTerms", () => {
  it.each([
    ["postgres port", ["postgres", "port"]],
    ["What is the PORT of our Postgres?", ["port", "postgres"]],
    ["what is it", ["what", "is", "it"]],
    ["数据库的端口", ["数据", "据库", "端口"]],
    ["端口", ["端口"]],
    ["库", ["库"]],
    ["サンドボックスの設定", ["サン", "ンド", "ドボ", "ボッ", "ック", "クス", "設定"]],
    ["重跑gen-itgc的日志", ["gen", "itgc", "重跑", "日志"]],
    ["포트 번호", ["포트", "번호"]],
    ["ＰＯＲＴ naïve Café", ["port", "naive", "cafe"]],
    ["C", ["c"]],
    ["x 1", ["x", "1"]],
    ["🚀", ["🚀"]],
    ["!?", ["!?"]],
    ["port port PORT", ["port"]],
    ["node.js server_name", ["node", "js", "server", "name"]],
  ])("%s", (topic, terms) => {
    expect(topicTerms(topic)).toEqual(terms);
  });
});

describe("a term in a text", () => {
  it.each([
    ["port", "the port", 1],
    ["port", "two Ports", 1],
    ["port", "portfolio", 0.5],
    ["port", "report and export", 0],
    ["port", "getPortNumber", 1],
    ["port", "db_port", 1],
    ["port", "db-port", 1],
    ["port", "PORT8080", 1],
    ["moved", "we are moving it", 1],
    ["db", "the dbase", 0],
    ["db", "the DB", 1],
    ["cafe", "Café", 1],
    ["cafe", "Cafe\u0301 bar", 1],
    ["istanbul", "İstanbul", 1],
    ["端口", "服务的端口已改", 1],
    ["数据库", "连接数据库的池", 1],
    ["数据库", "数据在这里", 0.25],
    ["数据库", "什么都没有", 0],
    ["포트", "포트가 바뀌었다", 1],
    ["5433", "on 5433.", 1],
    ["a.b", "a.b", 1],
  ])("%s in %j: %d", (term, text, strength) => {
    expect(strengthIn(term, text)).toBe(strength);
  });
  it("points at the original where folding changes lengths", () => {
    const text = "İİİİ ﬁﬁ cafe\u0301 port";
    const [match] = createMatcher(["port"])(text);
    expect(match && text.slice(match.from, match.to)).toBe("port");
  });
  it("reads 200,000 letters without a break in no time worth noting", () => {
    const before = process.cpuUsage();
    expect(createMatcher(["aaa"])(`x${"a".repeat(200_000)}`)).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });
});

describe("snippetOf", () => {
  const find = (text: string, chars: number) => snippetOf(text, createMatcher(["needle"])(text), [1], chars);
  it("starts and ends at sentences", () => {
    const text = `${"One sentence here. ".repeat(20)}A needle lies here. ${"Another one follows. ".repeat(20)}`;
    const { text: shown } = find(text, 100);
    expect(shown).toMatch(/^…One sentence here\. /);
    expect(shown).toMatch(/\.…$/);
    expect(shown).toContain("A needle lies here.");
  });
  it("starts and ends at lines of code", () => {
    const text = `${"foo(bar);\n".repeat(30)}needle(1);\n${"foo(bar);\n".repeat(30)}`;
    expect(find(text, 60).text).toMatch(/^…(foo\(bar\);\n)*needle\(1\);\n(foo\(bar\);\n)*foo\(bar\);…$/);
  });
  it("does not say that white space was cut", () => {
    expect(find(`   needle ${" ".repeat(900)}`, 60)).toEqual({ text: "needle", truncated: false });
  });
  it("takes the stretch with most of the words, not the first", () => {
    const text = `red. ${"filler words go on. ".repeat(30)} red green blue. ${"filler words go on. ".repeat(30)}`;
    const terms = ["red", "green", "blue"];
    expect(snippetOf(text, createMatcher(terms)(text), [1, 1, 1], 80).text).toContain("red green blue.");
  });
});
