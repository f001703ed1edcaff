const ascii = /^[\x00-\x7f]*$/;
const letterWithMarks = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** Letters that no decomposition turns into plain ones. */
const plainForms: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  æ: "ae",
  œ: "oe",
  ß: "ss",
  þ: "th",
  ς: "σ",
};
const withPlainForm = /[øłđðħıæœßþς]/g;

/** NFKC with lone surrogates replaced by blanks: full-width becomes half-width, ligatures become letters. */
export function compose(text: string): string {
  return ascii.test(text) ? text : text.replace(loneSurrogate, " ").normalize("NFKC");
}

/** Lower case without accents in Latin, Greek and Cyrillic; elsewhere marks are letters (が is not か). */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  if (ascii.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(letterWithMarks, "$1")
    .normalize("NFC")
    .replace(withPlainForm, (letter) => plainForms[letter] ?? letter);
}

/** The form in which texts are compared: NFKC, lower case, every run of white space one blank, none outside. */
export function foldText(text: string): string {
  return compose(text).toLowerCase().replace(/\s+/g, " ").trim();
}
