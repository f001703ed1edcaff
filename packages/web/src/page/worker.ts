import { parentPort } from "node:worker_threads";
import { type ConvertOptions, convert } from "./convert.ts";
import { PageError } from "./page-error.ts";
import type { Page } from "./types.ts";

export interface WorkerRequest {
  id: number;
  bytes: Uint8Array;
  options: ConvertOptions;
}

export type WorkerAnswer =
  | { id: number; page: Page }
  | {
      id: number;
      failure: { code: PageError["code"]; message: string; hint?: string; details?: Readonly<Record<string, unknown>> };
    }
  | { id: number; fault: string };

parentPort?.on("message", async ({ id, bytes, options }: WorkerRequest) => {
  parentPort?.postMessage(await answer(id, bytes, options));
});

parentPort?.postMessage("ready");

async function answer(id: number, bytes: Uint8Array, options: ConvertOptions): Promise<WorkerAnswer> {
  try {
    return { id, page: await convert(bytes, options) };
  } catch (error) {
    if (error instanceof PageError) {
      const { code, message, hint, details } = error;
      return {
        id,
        failure: {
          code,
          message,
          ...(hint === undefined ? {} : { hint }),
          ...(details === undefined ? {} : { details }),
        },
      };
    }
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
