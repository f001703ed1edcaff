import type { Block } from "./blocks.ts";

const priceWords = /(?:[$€£¥₹]|usd|eur|gbp|kr\.?)\s?\d|\d[\d.,]*\s?(?:[$€£¥₹]|usd|eur|gbp|kr\b|zł)/i;

const dateWords =
  /\b(?:19|20)\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d+\s+(?:second|minute|hour|day|week|month|year)s?\s+ago|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b/i;

export const copyright = /©|\(c\)\s*\d|copyright|all rights reserved|terms (?:of|and|&)|privacy policy/i;

export const calls =
  /^(?:read|learn|see|view|show|load|find|shop|discover|explore|get|buy|add|sign|log|subscribe|download|share|follow|reply|click|skip|back|next|previous|join|register|start|try|contact|continue|watch|more)\b/i;

export const askWords =
  /cookie|subscribe|newsletter|sign up|sign in|log in|your email|e-mail address|javascript|ad ?block|captcha|consent/i;

export const relatedWords =
  /^(?:related|recommended|you (?:may|might)|more (?:from|in|on|stories|articles|like)|read (?:more|next|also)|see also|also (?:on|read)|popular|trending|latest|most (?:read|popular|viewed)|similar|customers|people also|recent(?:ly)?|share|comments?|leave a|tags?|filed under|about the author|further reading|references|footnotes|table of contents|on this page|in this article|contents|sponsored|advertisement|follow us|what to read|up next|keep reading|explore)\b/i;

export const bylineWords =
  /^(?:by|from|written by|posted|published|updated|last (?:updated|modified|edited)|photo|image|source|credit|author|edited|reviewed)\b/i;

const stopwords = new Set(
  "the of and to in a is that for it with as was on are be this by at from or an have not but they you we his her their can will which one all has had its more when if there been who would about into than your our de la le les et en des du un une que el los las y se por der die das und ist von zu den mit für nicht ein eine dem auf di il e che per una del non och att det som en på av i is van het een dat op te".split(
    " ",
  ),
);

export interface Stat {
  words: number;
  wordLength: number;
  stopShare: number;
  commas: number;
  ends: number;
  sentence: boolean;
  digits: number;
  upper: number;
  price: boolean;
  date: boolean;
  separators: number;
  /** A run of words to look for in the page's data. */
  probe: string;
}

export const noWords: ReadonlySet<string> = new Set();

export const emptyStat: Stat = {
  words: 0,
  wordLength: 0,
  stopShare: 0,
  commas: 0,
  ends: 0,
  sentence: false,
  digits: 0,
  upper: 0,
  price: false,
  date: false,
  separators: 0,
  probe: "",
};

export function textStats({ text }: Block): Stat {
  const list = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  // Scripts without blanks between words: about two characters carry what a word does.
  const dense = (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu) ?? []).length;
  const words = list.length + Math.floor(dense / 2);
  let stops = 0;
  let letters = 0;
  let digits = 0;
  let uppers = 0;
  for (const word of list) {
    letters += word.length;
    if (stopwords.has(word.toLowerCase())) stops += 1;
    if (/^\d/.test(word)) digits += 1;
    else if (/^\p{Lu}/u.test(word)) uppers += 1;
  }
  const ends = /[.!?。！？…]["'”’»)\]]?$/u.test(text) ? 1 : /[.!?。！？]\s/u.test(text) ? 0.5 : 0;
  return {
    words,
    wordLength: list.length ? letters / list.length : 0,
    stopShare: list.length ? stops / list.length : 0,
    commas: (text.match(/[,、，;；]/g) ?? []).length,
    ends,
    sentence: words >= 8 && ends > 0,
    digits: list.length ? digits / list.length : 0,
    upper: list.length ? uppers / list.length : 0,
    price: priceWords.test(text),
    date: text.length < 400 && dateWords.test(text),
    separators: (text.match(/[|•·»›/]/g) ?? []).length,
    probe: text.slice(0, 60).toLowerCase(),
  };
}

export function wordSet(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []);
}

export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0 || a.size > 60) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both / (a.size + b.size - both);
}

export function share(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size < 3 || b.size === 0) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both / a.size;
}
