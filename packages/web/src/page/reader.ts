import { Worker } from "node:worker_threads";
import { ToolError } from "@toolhaft/core";
import { PageError } from "./page-error.ts";
import { sniff } from "./sniff.ts";
import type { Page, PageReader, PageReaderOptions, ReadPageOptions } from "./types.ts";
import type { WorkerAnswer, WorkerRequest } from "./worker.ts";

const memoryMb = 512;

interface Job {
  request: WorkerRequest;
  limitMs: number;
  resolve(page: Page): void;
  reject(error: Error): void;
  cleanUp(): void;
}

/** Makes a reader; its worker is started by the first `read`. */
export function createPageReader(options: PageReaderOptions = {}): PageReader {
  return options.worker === false ? inlineReader() : workerReader(options);
}

/** Converts in the calling thread: the same caps, but a page that takes long cannot be stopped. */
function inlineReader(): PageReader {
  return {
    async read(bytes, { signal, ...options }) {
      throwIfAborted(signal);
      const { convert } = await import("./convert.ts");
      try {
        const page = await convert(bytes, options);
        throwIfAborted(signal);
        return page;
      } catch (error) {
        throw error instanceof PageError ? toolError(error) : error;
      }
    },
    async close() {},
    async [Symbol.asyncDispose]() {},
  };
}

/** One worker, one document at a time; a document over its limits costs the worker its life and no one else's. */
function workerReader({ idleMs = 30_000, limitMs = 5_000, pdfLimitMs = 20_000 }: PageReaderOptions): PageReader {
  const waiting: Job[] = [];
  let worker: Worker | undefined;
  /** The worker has loaded its modules: only then the clock of a document runs. */
  let ready = false;
  let current: Job | undefined;
  let limit: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let nextId = 1;
  let closed = false;
  const ending = new Set<Promise<unknown>>();

  function stopWorker(): void {
    clearTimeout(limit);
    clearTimeout(idle);
    const old = worker;
    worker = undefined;
    ready = false;
    if (!old) return;
    old.removeAllListeners();
    // A worker out of memory still reports an error while it ends.
    old.on("error", () => undefined);
    const end = old.terminate().finally(() => ending.delete(end));
    ending.add(end);
  }

  function finish(settle: (job: Job) => void): void {
    clearTimeout(limit);
    const job = current;
    current = undefined;
    if (job) {
      job.cleanUp();
      settle(job);
    }
    next();
  }

  function startWorker(): Worker {
    const started = openWorker();
    started.unref();
    started.on("message", (answer: WorkerAnswer | "ready") => {
      if (answer === "ready") {
        ready = true;
        if (current) startClock(current);
        return;
      }
      if (answer.id !== current?.request.id) return;
      finish((job) => {
        if ("page" in answer) job.resolve(answer.page);
        else if ("failure" in answer) job.reject(toolError(answer.failure));
        else
          job.reject(
            new ToolError("internal", `the page could not be converted: ${answer.fault.split("\n", 1)[0]}`, {
              details: { stack: answer.fault },
            }),
          );
      });
    });
    started.on("error", (error) => {
      stopWorker();
      const memory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      finish((job) =>
        job.reject(
          memory
            ? tooComplex(`it took more than ${memoryMb} MB`)
            : new ToolError("internal", `the page worker failed: ${error.message}`, { cause: error }),
        ),
      );
    });
    started.on("exit", (code) => {
      if (worker === started) worker = undefined;
      ready = false;
      finish((job) => job.reject(new ToolError("internal", `the page worker ended with code ${code}`)));
    });
    return started;
  }

  function next(): void {
    clearTimeout(idle);
    if (current) return;
    const job = waiting.shift();
    if (!job) {
      worker?.unref();
      idle = setTimeout(stopWorker, idleMs);
      idle.unref();
      return;
    }
    current = job;
    worker ??= startWorker();
    worker.ref();
    if (ready) startClock(job);
    worker.postMessage(job.request);
  }

  function startClock(job: Job): void {
    limit = setTimeout(() => {
      stopWorker();
      finish((late) => late.reject(tooComplex(`it took more than ${job.limitMs / 1_000} s`)));
    }, job.limitMs);
  }

  async function close(): Promise<void> {
    closed = true;
    stopWorker();
    const left = [...(current ? [current] : []), ...waiting.splice(0)];
    current = undefined;
    for (const job of left) {
      job.cleanUp();
      job.reject(new ToolError("cancelled", "the reader was closed"));
    }
    await Promise.all(ending);
  }

  return {
    read(bytes, { signal, ...options }) {
      return new Promise<Page>((resolve, reject) => {
        if (closed) throw new ToolError("unavailable", "the reader is closed");
        throwIfAborted(signal);
        const stop = (): void => {
          const at = waiting.indexOf(job);
          if (at >= 0) {
            waiting.splice(at, 1);
            job.cleanUp();
            reject(cancelled());
            return;
          }
          stopWorker();
          finish(() => reject(cancelled()));
        };
        const job: Job = {
          request: { id: nextId++, bytes, options },
          limitMs: sniff(bytes, options.contentType).kind === "pdf" ? pdfLimitMs : limitMs,
          resolve,
          reject,
          cleanUp: () => signal?.removeEventListener("abort", stop),
        };
        signal?.addEventListener("abort", stop, { once: true });
        waiting.push(job);
        next();
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Beside the built files lies the built worker; run from source (tests, benches), tsx reads it. */
function openWorker(): Worker {
  const options = { resourceLimits: { maxOldGenerationSizeMb: memoryMb } };
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./page/worker.js", import.meta.url), options);
  const source = JSON.stringify(new URL("./worker.ts", import.meta.url).href);
  return new Worker(`import("tsx/esm/api").then(({ register }) => { register(); return import(${source}); });`, {
    ...options,
    eval: true,
  });
}

function tooComplex(why: string): ToolError {
  return new ToolError("too_large", `the page is too complex to convert: ${why}`, { hint: 'format: "raw"' });
}

function toolError({
  code,
  message,
  hint,
  details,
}: {
  code: PageError["code"];
  message: string;
  hint?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
}): ToolError {
  return new ToolError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details: { ...details } }),
  });
}

function cancelled(): ToolError {
  return new ToolError("cancelled", "the call was cancelled while the page was converted");
}

function throwIfAborted(signal: ReadPageOptions["signal"]): void {
  if (signal?.aborted) throw cancelled();
}
