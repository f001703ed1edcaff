import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Lets processes work at once: each says that it is ready, begins when it is told `"begin"`, and says what it did.
 *
 * @param program A file beside the bench; one process of it for each list of words.
 * @returns What each said, and the milliseconds from the word to begin until the last had answered.
 * @throws Error when a process ends without an answer
 */
export async function runTogether<Answer>(
  program: URL,
  words: readonly (readonly string[])[],
): Promise<{ answers: Answer[]; wallMs: number }> {
  const children = words.map((own) => startBenchProcess(program, own));
  await Promise.all(children.map(nextWord));
  const answers = children.map((child) => nextWord<Answer>(child));
  const start = performance.now();
  for (const child of children) child.send("begin");
  return { answers: await Promise.all(answers), wallMs: performance.now() - start };
}

/** Another process of a bench, which reads TypeScript as this one does. */
export function startBenchProcess(program: URL, words: readonly string[]): ChildProcess {
  return fork(fileURLToPath(program), words, { execArgv: process.execArgv });
}

/** The next message of a process; one that ends without it failed. */
export async function nextWord<Word>(child: ChildProcess): Promise<Word> {
  const gone = new AbortController();
  const ended = once(child, "exit", { signal: gone.signal }).then(([code]) => {
    throw new Error(`a process of the bench ended with ${code}`);
  });
  try {
    const [word] = await Promise.race([once(child, "message"), ended]);
    return word as Word;
  } finally {
    ended.catch(() => undefined);
    gone.abort();
  }
}
