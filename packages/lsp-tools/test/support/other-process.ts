import { fileURLToPath } from "node:url";
import { startChild } from "@toolhaft/testing";

const program = fileURLToPath(new URL("other-process.mjs", import.meta.url));

/** A process that is not ours and changes files: a text writes one, `null` removes it. Resolves when that is done. */
export function otherProcess(): (changes: Record<string, string | null>) => Promise<void> {
  const child = startChild(program, []);
  let asked = 0;
  return async (changes) => {
    child.process.stdin?.write(`${JSON.stringify(changes)}\n`);
    await child.hasLines(++asked);
    if (child.lines.length < asked) throw new Error(`the other process ended: ${child.stderr()}`);
  };
}
