export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Encoding = "utf-8" | "utf-16" | "utf-32";

/** Bounds in milliseconds. */
export interface Timeouts {
  /** Start to the answer of `initialize`. @default 60_000 */
  initialize: number;
  /** `initialized` to a loaded project. @default 60_000 */
  ready: number;
  /** Requests on one file. @default 10_000 */
  fast: number;
  /** Requests on the project. @default 60_000 */
  slow: number;
  /** Until published diagnostics are given up. @default 10_000 */
  push: number;
  /** A whole tool call. @default 120_000 */
  call: number;
  /** The answer to `shutdown`. @default 2_000 */
  shutdown: number;
  /** The sign of life after a timeout. @default 5_000 */
  health: number;
}

export const defaultTimeouts: Timeouts = {
  initialize: 60_000,
  ready: 60_000,
  fast: 10_000,
  slow: 60_000,
  push: 10_000,
  call: 120_000,
  shutdown: 2_000,
  health: 5_000,
};

export interface Install {
  with: "npm" | "apt" | "go" | "cargo" | "rustup" | "pip" | "gem" | "dotnet" | "brew" | "opam" | "site";
  what: string;
}

export interface FileMatch {
  languageId: string;
  /** With the dot. */
  extensions?: string[];
  /** Globs on the file's name, such as `Dockerfile.*`. */
  names?: string[];
  /** Interpreter names. */
  shebangs?: string[];
}

/** How a server says that its project is loaded. */
export interface ReadyRule {
  by: "none" | "first-answer" | "progress" | "notification";
  /** Of the notification. */
  method?: string;
  /** Dotted path into its params. */
  path?: string;
  /** A regular expression for the value there. */
  matches?: string;
  /** A progress has to begin within this time, else there is nothing to load. @default 1_500 */
  beginWithinMs?: number;
  /** Progress with such a title is not loading. */
  ignoreTitles?: string[];
  /** Without one of these files in the root answers across files are partial. */
  needs?: string[];
  /** How to make the needed file. */
  needsHint?: string;
}

/** An editor-side command that we carry out ourselves. */
export type ClientCommand = { kind: "edits"; uri: number; version: number; edits: number } | { kind: "json-sort" };

/** A language server as data: everything the engine knows about it. */
export interface ServerDefinition {
  id: string;
  /** A program, never a shell line. Arguments and settings may hold `${root}`, `${root#}` (a hash), `${cache}`, `${npm:pkg}` (its folder). */
  command: string;
  args?: string[];
  /** Tried in this order when `command` is not found. */
  alternatives?: { command: string; args?: string[] }[];
  files: FileMatch[];
  /** `first`: markers of a whole workspace; the outermost of them wins over all `markers`. */
  root: { markers: string[]; pick: "nearest" | "outermost"; first?: string[] };
  /** Linters add to the language server, they never stand in for it. @default "language" */
  role?: "language" | "linter";
  /** Of one group only the first usable server serves a file. */
  group?: string;
  /** Serves only where one of these holds, looked for upwards from the file. */
  when?: { files?: string[]; npm?: { name: string; range?: string } };
  install: Install[];
  /** What a start-up proxy prints and the line that helps, when the program is a mere stub. */
  stub?: { matches: string; install: string };
  initializationOptions?: Json;
  settings?: { [section: string]: Json };
  env?: Record<string, string>;
  /** What to offer in `positionEncodings`. @default ["utf-16"] */
  positionEncodings?: Encoding[];
  timeouts?: Partial<Timeouts>;
  ready?: ReadyRule;
  multiRoot?: boolean;
  /** Its daemon serves several clients and has to be told to go: arguments of the command that stops it. */
  sharedDaemon?: boolean;
  stopArgs?: string[];
  renameAtDefinition?: boolean;
  editsOpenFilesOnly?: boolean;
  needsOpenFileForSymbols?: boolean;
  clientCommands?: Record<string, ClientCommand>;
  /** Commands whose only effect is the `applyEdit` they send. */
  editOnlyCommands?: string[];
  /** Answers to requests of the server's own; a string value is the name of a bridge. */
  answers?: Record<string, Json>;
  bridges?: ("vue" | "markdown-files")[];
  /** Another server that a bridge talks to, and the plugin it must load. */
  partner?: { id: string; plugin: string; languages: string[] };
  /** What differs when code of the folder may not run; `false`: the server runs not at all. */
  untrusted?: false | { initializationOptions?: Json; settings?: { [section: string]: Json } };
  /** Packages of the folder that the server runs code of; looked for outside the folder when it is not trusted. */
  usesFolderPackages?: string[];
  /** Offers completions only to clients that take snippets; their marks are removed again. */
  snippets?: boolean;
  /** Asks for its settings; being told of them as well would only make it load its project twice. */
  pullsSettings?: boolean;
  /** Registers what it can do only once a document is open. */
  registersOnOpen?: boolean;
  experimental?: { [capability: string]: Json };
}

/** Checks a definition and gives it back; for definitions written in a program. @throws TypeError */
export function defineServer(definition: ServerDefinition): ServerDefinition {
  const faults: string[] = [];
  if (!/^[a-z][a-z0-9_-]*$/.test(definition.id)) faults.push(`id "${definition.id}" must match [a-z][a-z0-9_-]*`);
  if (definition.command.trim() === "") faults.push("command is empty");
  if (definition.files.length === 0) faults.push("files is empty: name at least one language");
  for (const file of definition.files) {
    if (!file.extensions?.length && !file.names?.length && !file.shebangs?.length)
      faults.push(`language ${file.languageId} has no extensions, names or shebangs`);
    for (const extension of file.extensions ?? [])
      if (!extension.startsWith(".")) faults.push(`extension "${extension}" must start with a dot`);
  }
  if (faults.length > 0) throw new TypeError(`server ${definition.id}: ${faults.join("; ")}`);
  return Object.freeze(definition);
}
