import { ToolError } from "@toolhaft/core";
import { type Asked, askOne, type Call, type Question } from "./ask.ts";
import type { OpenFile } from "./open-file.ts";
import type { Serving } from "./serving.ts";

/**
 * One server owns an edit: the one that was named, else a linter with its own configuration file where that is the custom
 * (formatting), else the main one. Those that have not the feature are passed over.
 *
 * @throws ToolError `not_found` when the named server does not serve the file
 */
export async function askOwner<R>(
  call: Call,
  file: OpenFile,
  question: Question<R>,
  options: { server?: string | undefined; lintersFirst: boolean },
): Promise<Asked<R>[]> {
  const serving = ordered(file, options);
  const asked: Asked<R>[] = [];
  for (const one of serving) {
    const answer = await askOne(call, one, question);
    asked.push(answer);
    if (answer.report.outcome !== "unsupported") break;
  }
  return asked;
}

function ordered(file: OpenFile, options: { server?: string | undefined; lintersFirst: boolean }): Serving[] {
  const { serving } = file.served;
  const { server, lintersFirst } = options;
  if (server !== undefined) {
    const named = serving.filter((one) => one.definition.id === server);
    if (named.length > 0) return named;
    throw new ToolError("not_found", `no server "${server}" serves ${file.shown}`, {
      hint: `servers of this file: ${serving.map((one) => one.definition.id).join(", ") || "none"}`,
    });
  }
  const isLinter = (one: Serving) => one.definition.role === "linter";
  const languages = serving.filter((one) => !isLinter(one));
  const linters = serving.filter(isLinter);
  if (!lintersFirst) return [...languages, ...linters];
  const configured = linters.filter((one) => one.definition.when?.files !== undefined || one.definition.id === "ruff");
  // eslint with its own file checks more than it formats; a formatter among the linters goes before it
  const formatters = configured.filter((one) => one.definition.id !== "eslint" && one.definition.id !== "tailwind");
  return [...formatters, ...languages, ...linters.filter((one) => !formatters.includes(one))];
}
