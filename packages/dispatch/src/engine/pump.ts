/** Does its work soon after it was poked, once however often that was; and again when it was poked meanwhile. */
export class Pump {
  readonly #work: () => Promise<void>;
  readonly #onFault: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(work: () => Promise<void>, onFault: (error: unknown) => void) {
    this.#work = work;
    this.#onFault = onFault;
  }

  poke(): void {
    if (this.#closed) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.poke();
    });
  }

  /** Begins nothing more; resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn later: hints come in bunches.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await this.#work();
    } catch (error) {
      this.#onFault(error);
    }
  }
}
