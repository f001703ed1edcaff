import { describe, expect, it } from "vitest";
import type { ProgressUpdate } from "../src/index.ts";
import { throttleProgress } from "../src/progress.ts";
import { probe, until } from "./tools.ts";

const directory = "/w";

/** What reached the listener of a call that sends these updates, each at its time on a fake clock. */
async function sent(...updates: (ProgressUpdate & { at?: number })[]): Promise<ProgressUpdate[]> {
  const received: ProgressUpdate[] = [];
  let now = 1_000;
  const tool = probe((_input, context) => {
    for (const { at, ...update } of updates) {
      if (at !== undefined) now = 1_000 + at;
      context.progress(update);
    }
    return { value: 1 };
  });
  await tool.call({}, { directory, clock: { now: () => now }, progress: (update) => received.push(update) });
  return received;
}

describe("progress", () => {
  it("sends at most one update in 100 ms, the last value of each interval", async () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ progress: index + 1, at: index * 10 }));
    expect(await sent(...many)).toEqual([{ progress: 1 }, { progress: 11 }, { progress: 21 }, { progress: 31 }]);
  });
  it("progress-3: numbers only rise", async () => {
    expect(
      await sent(
        { progress: 3, total: 5, at: 0 },
        { progress: 1, total: 5, at: 200 },
        { progress: 2, total: 5, at: 400 },
      ),
    ).toEqual([{ progress: 3, total: 5 }]);
    expect(await sent({ progress: 3, at: 0 }, { progress: 1, message: "still here", at: 200 })).toEqual([
      { progress: 3 },
      { message: "still here" },
    ]);
  });
  it("a number that is none is not sent", async () => {
    expect(await sent({ progress: Number.NaN, at: 0 }, { progress: 1, at: 0 })).toEqual([{ progress: 1 }]);
  });
  it("sends what waits when the interval is over, though nothing more comes", async () => {
    const received: ProgressUpdate[] = [];
    let done = (): void => undefined;
    const tool = probe(async (_input, context) => {
      context.progress({ progress: 1 });
      context.progress({ progress: 2 });
      await new Promise<void>((resolve) => {
        done = resolve;
      });
      return { value: 1 };
    });
    const running = tool.call({}, { directory, progress: (update) => received.push(update) });
    await until(() => received.length === 2);
    done();
    await running;
    expect(received).toEqual([{ progress: 1 }, { progress: 2 }]);
  });
  it("sends nothing once the call has settled: what waits is dropped", async () => {
    const received: ProgressUpdate[] = [];
    let late = (_update: ProgressUpdate): void => undefined;
    const tool = probe((_input, context) => {
      late = context.progress;
      context.progress({ progress: 1 });
      context.progress({ progress: 2 });
      return { value: 1 };
    });
    await tool.call({}, { directory, progress: (update) => received.push(update) });
    late({ progress: 3 });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(received).toEqual([{ progress: 1 }]);
  });
  it("lets the result wait until 5 ms after the last update, and only then", async () => {
    let sentAt = 0;
    const speaks = probe((_input, context) => {
      context.progress({ progress: 1 });
      return { value: 1 };
    });
    for (let index = 0; index < 20; index++) {
      await speaks.call({}, { directory, progress: () => (sentAt = performance.now()) });
      expect(performance.now() - sentAt).toBeGreaterThanOrEqual(5);
    }
  });
  it("also before a failure", async () => {
    let sentAt = 0;
    const fails = probe((_input, context) => {
      context.progress({ progress: 1 });
      throw new Error("boom");
    });
    await fails.call({}, { directory, progress: () => (sentAt = performance.now()) });
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(5);
  });
  it("goes on when the clock is set back", () => {
    const received: ProgressUpdate[] = [];
    let now = 1_000_000;
    const progress = throttleProgress((update) => received.push(update), { now: () => now });
    progress.update({ progress: 1 });
    now = 0;
    progress.update({ progress: 2 });
    progress.settle();
    expect(received).toEqual([{ progress: 1 }, { progress: 2 }]);
  });
  it("costs a call without a listener nothing: the same function every time", async () => {
    const seen: unknown[] = [];
    const tool = probe((_input, context) => {
      seen.push(context.progress);
      return { value: 1 };
    });
    await tool.call({}, { directory });
    await tool.call({}, { directory });
    expect(seen[0]).toBe(seen[1]);
  });
});
