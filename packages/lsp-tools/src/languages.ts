import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import picomatch from "picomatch";
import type { FileMatch, ServerDefinition } from "./definition.ts";

/** What a file's name and first line tell. */
export interface FileKind {
  path: string;
  /** Language ids by glob, from options and configuration; they win. */
  overrides: Readonly<Record<string, string>>;
  /** Interpreter of the first line, when it is a shebang. */
  interpreter: string | undefined;
}

/** The interpreter's name in a `#!` line. */
export function interpreterOf(text: string): string | undefined {
  const line = /^#!\s*(\S+)[ \t]*([^\r\n]*)/.exec(text);
  if (line === null) return undefined;
  const [, program = "", rest = ""] = line;
  const name = basename(program);
  if (name !== "env") return name;
  return rest.split(/\s+/).find((word) => word !== "" && !word.startsWith("-") && !word.includes("="));
}

/** The language id under which this server takes the file; `undefined` when it does not. */
export function languageFor(definition: ServerDefinition, file: FileKind): string | undefined {
  const override = overrideFor(file);
  if (override !== undefined) {
    return definition.files.some((match) => match.languageId === override) ? override : undefined;
  }
  const name = basename(file.path);
  const extension = extname(name);
  const by = (test: (match: FileMatch) => boolean) => definition.files.find(test)?.languageId;
  const found =
    by((match) => match.names?.some((glob) => picomatch.isMatch(name, glob, { dot: true })) ?? false) ??
    by((match) => match.extensions?.some((one) => sameExtension(one, extension, name)) ?? false) ??
    (file.interpreter === undefined || extension !== ""
      ? undefined
      : by((match) => match.shebangs?.some((one) => sameInterpreter(one, file.interpreter ?? "")) ?? false));
  // a header belongs to the language of the sources beside it
  if (found === "c" && extension === ".h" && hasCppNeighbour(file.path)) return "cpp";
  return found;
}

function overrideFor(file: FileKind): string | undefined {
  const name = basename(file.path);
  for (const [glob, languageId] of Object.entries(file.overrides)) {
    const subject = glob.includes("/") ? file.path : name;
    if (picomatch.isMatch(subject, glob.includes("/") && !glob.startsWith("/") ? `**/${glob}` : glob, { dot: true })) {
      return languageId;
    }
  }
  return undefined;
}

function sameExtension(wanted: string, extension: string, name: string): boolean {
  // ".R" and ".r", ".C" and ".c" are told apart by those who list both
  return extension === wanted || (wanted.indexOf(".", 1) > 0 && name.endsWith(wanted));
}

function sameInterpreter(wanted: string, interpreter: string): boolean {
  return (
    interpreter === wanted || (interpreter.startsWith(wanted) && /^[\d.]+$/.test(interpreter.slice(wanted.length)))
  );
}

function hasCppNeighbour(path: string): boolean {
  const folder = dirname(path);
  if (!existsSync(folder)) return false;
  return readdirSync(folder).some((name) => /\.(?:cc|cpp|cxx|c\+\+|hpp|hh|hxx)$/.test(name));
}
