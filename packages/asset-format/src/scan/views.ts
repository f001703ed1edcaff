/** A form of a text in which disguises are taken off, with the way back to the text. */
export interface View {
  readonly text: string;
  /** UTF-16 offset in the source of an offset in the view. */
  original(offset: number): number;
}

/** Cyrillic and Greek letters that look like Latin ones, in lower case. */
const lookAlikes = new Map(
  Object.entries({
    а: "a",
    в: "b",
    е: "e",
    ё: "e",
    з: "3",
    и: "u",
    і: "i",
    ї: "i",
    ј: "j",
    к: "k",
    м: "m",
    н: "h",
    о: "o",
    р: "p",
    с: "c",
    т: "t",
    у: "y",
    х: "x",
    ѕ: "s",
    ԁ: "d",
    ԛ: "q",
    ԝ: "w",
    һ: "h",
    ӏ: "l",
    ь: "b",
    г: "r",
    п: "n",
    α: "a",
    β: "b",
    γ: "y",
    ε: "e",
    η: "n",
    ι: "i",
    κ: "k",
    ν: "v",
    ο: "o",
    ρ: "p",
    σ: "o",
    τ: "t",
    υ: "u",
    χ: "x",
    ω: "w",
    ϲ: "c",
    ϳ: "j",
    µ: "u",
    ɑ: "a",
    ɡ: "g",
    ı: "i",
    ⅼ: "l",
  }),
);
const format = /\u034f|[\p{Cf}\p{Variation_Selector}\u115f\u1160\u3164\uffa0]/u;
const cluster = /\P{M}\p{M}*|\p{M}+/gsu;
const asciiText = /^[\x00-\x7f]*$/;

/**
 * The three views that phrase rules run over: as composed (NFKC), without format characters, and with those as spaces.
 * All are in lower case with look-alikes folded; equal views are given once.
 */
export function viewsOf(text: string): View[] {
  if (asciiText.test(text)) return [{ text: text.toLowerCase(), original: (offset) => offset }];
  const views = [makeView(text, (sign) => sign), makeView(text, () => ""), makeView(text, () => " ")];
  return views.filter((view, index) => views.findIndex((other) => other.text === view.text) === index);
}

function makeView(text: string, replaceFormat: (sign: string) => string): View {
  const parts: string[] = [];
  const origins: number[] = [];
  let length = 0;
  for (const { 0: piece, index } of text.matchAll(cluster)) {
    const folded = asciiText.test(piece) ? piece.toLowerCase() : foldPiece(piece, replaceFormat);
    parts.push(folded);
    for (let i = 0; i < folded.length; i++) origins[length++] = index;
  }
  return { text: parts.join(""), original: (offset) => origins[offset] ?? text.length };
}

function foldPiece(piece: string, replaceFormat: (sign: string) => string): string {
  let folded = "";
  for (const sign of piece.normalize("NFKC").toLowerCase()) {
    folded += format.test(sign) ? replaceFormat(sign) : (lookAlikes.get(sign) ?? sign);
  }
  return folded;
}
