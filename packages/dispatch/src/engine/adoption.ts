import type { Claim } from "@toolhaft/tasks";

/** The claim with which a run that waits for an approval goes on: asked for by the run, given by its engine. */
export class Adoption {
  #waiting: ((claim: Claim) => void) | undefined;

  /** Rejects when the run is stopped while it waits. */
  next(signal: AbortSignal): Promise<Claim> {
    const next = new Promise<Claim>((resolve, reject) => {
      const gone = () => reject(new DOMException("the run was stopped while it waited for an approval", "AbortError"));
      if (signal.aborted) gone();
      else signal.addEventListener("abort", gone, { once: true });
      this.#waiting = (claim) => {
        this.#waiting = undefined;
        signal.removeEventListener("abort", gone);
        resolve(claim);
      };
    });
    next.catch(() => undefined); // heard by who waits; an abort may come before
    return next;
  }

  /** False when nobody waits. */
  give(claim: Claim): boolean {
    if (this.#waiting === undefined) return false;
    this.#waiting(claim);
    return true;
  }
}
