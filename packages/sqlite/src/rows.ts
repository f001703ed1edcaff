/** Rows that may be read until the current tick ends: an open read must not outlive it. */
export function withinTick(
  rows: IterableIterator<unknown>,
  translate: (error: unknown) => unknown,
): IterableIterator<unknown> {
  let expired = false;
  let done = false;
  queueMicrotask(() => {
    expired = true;
    if (!done) rows.return?.();
  });
  return {
    next() {
      if (done) return { done: true, value: undefined };
      if (expired) throw new TypeError("rows of iterate are read within one tick: no await between them");
      try {
        const step = rows.next();
        done = step.done === true;
        return step;
      } catch (error) {
        done = true;
        throw translate(error);
      }
    },
    return() {
      if (!done && !expired) rows.return?.();
      done = true;
      return { done: true, value: undefined };
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}
