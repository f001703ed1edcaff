import { ToolError } from "@toolhaft/core";
import { editFault } from "./answer-shapes.ts";

export interface Applied {
  applied: boolean;
  failureReason?: string;
}

export type ApplyEdit = (edit: unknown, label: string | undefined) => Promise<Applied>;

/** What becomes of `workspace/applyEdit`: it is carried out for a command of ours, and for nothing else. */
export interface ServerEdits {
  handle(params: unknown): Promise<Applied>;
  /** Edits that come during the work are applied by this function, each once. @throws ToolError `conflict` */
  during<T>(apply: ApplyEdit, work: () => Promise<T>): Promise<T>;
}

export function createServerEdits(server: string): ServerEdits {
  let running: { apply: ApplyEdit; seen: Map<string, Promise<Applied>> } | undefined;
  return {
    async handle(params) {
      const { edit, label } = (params ?? {}) as { edit?: unknown; label?: unknown };
      if (running === undefined) {
        return { applied: false, failureReason: "no command of this client is running" };
      }
      const fault = editFault(edit);
      if (fault !== undefined) return { applied: false, failureReason: `edit${fault.replace(/^(?![.[])/, " ")}` };
      const key = JSON.stringify(edit);
      const known = running.seen.get(key);
      if (known) return known;
      const result = running.apply(edit, typeof label === "string" ? label : undefined);
      running.seen.set(key, result);
      return result;
    },
    async during(apply, work) {
      if (running) throw new ToolError("conflict", `${server} is running another command`);
      running = { apply, seen: new Map() };
      try {
        return await work();
      } finally {
        running = undefined;
      }
    },
  };
}
