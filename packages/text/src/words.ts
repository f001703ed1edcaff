import { stemmer } from "stemmer";
import { foldWord } from "./fold.ts";

/** Words joined by signs without blanks: gpt-4o, src/main.py, memory:safe, C++, 20.04, don't. */
const chains = /[\p{L}\p{N}\p{M}]+(?:[._\-/:+#'’]+[\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const emoji =
  /\p{Regional_Indicator}{2}|[#*0-9]\ufe0f?\u20e3|(?!\d)\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*)*/gu;
const maybeEmoji = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;
const joints = /[._\-/:+#'’]+/u;
/** Borders inside a word: getUser|Name, XML|Http, gpt|4|o. */
const borders = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;
const longestChain = 64;
const stemmable = /^[a-z]{3,}$/;

/** The term under which a word is indexed and searched. */
export function wordTerm(word: string): string {
  const folded = foldWord(word);
  return stemmable.test(folded) ? stemmer(folded) : folded;
}

/** Terms of a run that is written with blanks, in order: each word, the parts of compounds, and compounds whole. */
export function plainTerms(run: string): string[] {
  const terms: string[] = [];
  for (const [chain] of run.matchAll(chains)) chainTerms(chain, terms);
  if (maybeEmoji.test(run)) {
    for (const [sign] of run.matchAll(emoji)) terms.push(sign.replace(/\ufe0f/g, ""));
  }
  return terms;
}

function chainTerms(chain: string, terms: string[]): void {
  const words = chain.split(joints).filter((word) => word !== "");
  const isChain = words.length > 1 || words[0] !== chain;
  if (isChain && chain.length <= longestChain) terms.push(foldWord(chain.replace(/’/g, "'")));
  for (const word of words) {
    terms.push(wordTerm(word));
    const parts = word.split(borders);
    if (parts.length > 1) for (const part of parts) terms.push(wordTerm(part));
  }
}
