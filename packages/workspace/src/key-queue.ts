/** First come, first served, by key, inside one process. */
export class KeyQueue {
  /** A key is here while it is held; the list are those that wait for it. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /**
   * Waits for the key. Rejects with the signal's reason when it aborts first.
   *
   * @returns a function that frees the key
   */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const line = this.#waiting.get(key);
    if (!line) {
      this.#waiting.set(key, []);
      return () => this.#free(key);
    }
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        line.splice(line.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      line.push(turn);
    });
    return () => this.#free(key);
  }

  #free(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next) next();
    else this.#waiting.delete(key);
  }
}
