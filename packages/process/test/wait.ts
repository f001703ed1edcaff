import { isRunning, type ProcessIdentity } from "../src/identity.ts";

/** Waits until a condition holds; the test's own time limit ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export async function untilGone(identities: readonly ProcessIdentity[]): Promise<void> {
  for (const identity of identities) await until(async () => !(await isRunning(identity)));
}
