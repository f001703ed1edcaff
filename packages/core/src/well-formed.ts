/** The text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text.replace(/\p{Surrogate}/gu, "\ufffd") : text;
}
