const scripts: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/\p{Script=Cyrillic}/u, "ru"],
];

/** The language of a query by its script; `en` when nothing tells. Kana come before Han: Japanese has both. */
export function languageOf(query: string): string {
  return scripts.find(([pattern]) => pattern.test(query))?.[1] ?? "en";
}
