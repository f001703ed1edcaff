/** Most characters that are kept while a run talks; the store keeps the end of long results, too. */
const keptChars = 20 * 1024 * 1024;

/** What a run has said, for a partial result: the end of it. */
export class Said {
  #parts: string[] = [];
  #chars = 0;

  add(text: string): void {
    this.#parts.push(text);
    this.#chars += text.length;
    if (this.#chars <= keptChars * 2) return;
    const kept = this.text.slice(-keptChars);
    this.#parts = [kept];
    this.#chars = kept.length;
  }

  get text(): string {
    return this.#parts.join("");
  }
}
