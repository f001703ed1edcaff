import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ChildMessage, PageScore } from "./extract-child.ts";

const child = fileURLToPath(new URL("./extract-child.ts", import.meta.url));

export interface ExtractorRun {
  scores: readonly PageScore[];
  /** Pages on which it threw, crashed or hung: they score nothing. */
  failures: readonly string[];
  peakMb: number;
}

/** Runs one extractor over all pages (or every nth) in processes of its own; a crash or a hang costs that page only. */
export async function runExtractor(name: string, every: number): Promise<ExtractorRun> {
  const scores: PageScore[] = [];
  const failures: string[] = [];
  const done: string[] = [];
  let peakMb = 0;
  for (;;) {
    const broken = await once();
    if (broken === undefined) return { scores, failures, peakMb };
    failures.push(broken);
    done.push(broken);
  }

  /** Gives the page on which the process ended before its time. */
  function once(): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const started = fork(child, [name, String(every), done.join(",")], {
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      });
      let current: string | undefined;
      let finished = false;
      let errors = "";
      started.stderr?.setEncoding("utf8").on("data", (text: string) => {
        errors = (errors + text).slice(-2_000);
      });
      started.on("message", (message: ChildMessage) => {
        if ("started" in message) current = message.started;
        else if ("score" in message) {
          current = undefined;
          scores.push(message.score);
          done.push(message.score.id);
          if (message.score.failed !== undefined) failures.push(message.score.id);
        } else {
          finished = true;
          peakMb = Math.max(peakMb, message.peakMb);
        }
      });
      started.once("error", reject);
      started.once("exit", () => {
        if (finished) resolve(undefined);
        else if (current !== undefined) resolve(current);
        else reject(new Error(`${name} did not start: ${errors}`));
      });
    });
  }
}
