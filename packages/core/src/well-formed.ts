/** The text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return isWellFormed(text) ? text : text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Newer runtimes have it built in, at a tenth of the cost. */
function isWellFormed(text: string & { isWellFormed?: () => boolean }): boolean {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}
