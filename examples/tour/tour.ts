/** One call as the transcript shows it. */
export interface Shown {
  call: string;
  answer: string;
}

/** What a tool gave a client. */
export interface Answer {
  text: string;
  failed: boolean;
}

/** The temporary copy of the repository, and real programs working in it. */
export interface Tour {
  /** The copy. */
  readonly directory: string;
  /** The repository itself, for the built command; never written. */
  readonly repository: string;
  path(relative: string): string;
  /** Calls a tool through the official MCP client; shows call and answer. A failure ends the tour unless it is expected. */
  call(tool: string, input: Record<string, unknown>, expected?: "success" | "failure"): Promise<Answer>;
  /** The tools the server lists. */
  tools(): Promise<
    readonly { name: string; title?: string | undefined; description?: string | undefined; inputSchema: unknown }[]
  >;
  /** Who serves, in words. */
  server(): Promise<string>;
  /** How questions to a person are answered from here on, and what was asked. */
  answerQuestions(decision: "allow once" | "deny", feedback?: string): { questions: string[] };
  /** Shows a call that did not go through the client. */
  show(call: string, answer: string): void;
  /** Ends the tour as failed. */
  check(condition: boolean, message: string): void;
  /** Ends the step: something optional is missing here. */
  skip(reason: string): never;
  /** Called at the end of the tour, last first. */
  onEnd(work: () => unknown): void;
}

/** One step: a file in steps/, in the order of their names. */
export interface Step {
  title: string;
  /** Tools it calls over MCP; it is left out while the server has not all of them. */
  needs?: readonly string[];
  run(tour: Tour): Promise<void>;
}

export const defineStep = (step: Step): Step => step;

/** Ends a step without failing the tour. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** The anchored lines of a `hashline_read` answer. */
export function anchorsOf(text: string): { anchor: string; line: number; text: string }[] {
  return [...text.matchAll(/^[ +]?((\d+)#[a-z]+)\|(.*)$/gm)].map(([, anchor = "", line = "", content = ""]) => ({
    anchor,
    line: Number(line),
    text: content,
  }));
}

/** The version that a `hashline` answer tells. */
export function versionOf(text: string): string {
  const version = /version: ([0-9a-f]{12,64})/.exec(text)?.[1];
  if (version === undefined) throw new Error(`no version in: ${text.slice(0, 200)}`);
  return version;
}
