import { describe, expect, test } from "vitest";
import { decode, decodeBody } from "../../src/page/charset.ts";

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part, "latin1")] : part)));

/** "你好，世界" and the like as other programs encode them. */
const gbk = [0xc4, 0xe3, 0xba, 0xc3, 0xa3, 0xac, 0xca, 0xc0, 0xbd, 0xe7];
const shiftJis = [0x82, 0xb1, 0x82, 0xf1, 0x82, 0xc9, 0x82, 0xbf, 0x82, 0xcd];
const big5 = [
  0xb3, 0x6f, 0xac, 0x4f, 0xa7, 0xda, 0xad, 0xcc, 0xaa, 0xba, 0xa4, 0xa4, 0xa4, 0xe5, 0xba, 0xf4, 0xad, 0xb6,
];

describe("charsets", () => {
  test("char-1: GBK by the header", () => {
    expect(decodeBody(bytes(gbk), "text/plain; charset=gbk")).toEqual({
      text: "你好，世界",
      charset: "gbk",
      source: "header",
    });
  });

  test("char-2: Shift_JIS by http-equiv", () => {
    const { text, source } = decodeBody(
      bytes('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>', shiftJis),
    );
    expect(text).toContain("こんにちは");
    expect(source).toBe("meta");
  });

  test("char-3: the mark wins over the header", () => {
    expect(decodeBody(bytes([0xff, 0xfe, 0x68, 0, 0x69, 0]), "text/html; charset=iso-8859-1")).toEqual({
      text: "hi",
      charset: "utf-16le",
      source: "bom",
    });
  });

  test("char-4: 0x80 in a page labelled iso-8859-1 is the euro sign", () => {
    expect(decodeBody(bytes([0x80]), "text/html; charset=iso-8859-1").text).toBe("€");
  });

  test("char-5: Big5 without any label is guessed and noted", () => {
    const { text, notes, charset } = decode(bytes("<p>", big5), { contentType: "text/html" });
    expect(charset).toBe("big5");
    expect(text).toBe("<p>這是我們的中文網頁");
    expect(notes.map(({ code }) => code)).toEqual(["charset_guessed"]);
  });

  test("char-6: a cut inside a character leaves no replacement", () => {
    const cut = new TextEncoder().encode("ab€").subarray(0, 4);
    expect(decode(cut, { contentType: "text/plain; charset=utf-8", complete: false }).text).toBe("ab");
    expect(decode(cut, { contentType: "text/plain", complete: false }).text).toBe("ab");
  });

  test("utf-16 in a meta means UTF-8; unknown labels fall through", () => {
    expect(decodeBody(bytes('<meta charset="utf-16"><p>x')).charset).toBe("utf-8");
    expect(decodeBody(new TextEncoder().encode("ä"), "text/html; charset=utf-7")).toMatchObject({
      text: "ä",
      source: "utf8",
    });
  });

  test("a wrong header gives way to the page where only that fits", () => {
    const { charset, notes } = decode(bytes('<meta charset="gbk"><p>', gbk), {
      contentType: "text/html; charset=utf-8",
    });
    expect(charset).toBe("gbk");
    expect(notes.map(({ code }) => code)).toEqual(["charset_conflict"]);
  });

  test("western bytes without a label are windows-1252", () => {
    expect(decodeBody(bytes("caf", [0xe9], " d", [0xe9], "j", [0xe0], " vu"))).toMatchObject({
      text: "café déjà vu",
      charset: "windows-1252",
      source: "default",
    });
  });
});
