// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { Json, ServerDefinition } from "../definition.ts";

const files: ServerDefinition["files"] = [
  { languageId: "python", extensions: [".py", ".pyi", ".pyw"], shebangs: ["python", "python3"] },
];
const root: ServerDefinition["root"] = {
  markers: [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pyrightconfig.json",
    "requirements.txt",
    "Pipfile",
    "ruff.toml",
  ],
  pick: "nearest",
};
const analysis: { [key: string]: Json } = {
  autoSearchPaths: true,
  useLibraryCodeForTypes: true,
  diagnosticMode: "openFilesOnly",
};
const hints: { [key: string]: Json } = {
  variableTypes: true,
  callArgumentNames: true,
  functionReturnTypes: true,
  genericTypes: true,
};
// without it: 1 of 3 references in most fresh starts, and no progress at all
const ready: ServerDefinition["ready"] = {
  by: "notification",
  method: "window/logMessage",
  path: "message",
  matches: "Found \\d+ source files?|No source files found",
  // the untitled "1 file to analyze" is the check of open files: answers do not wait for it, and its end is not always told
  ignoreTitles: [""],
};

export const basedpyright: ServerDefinition = {
  id: "basedpyright",
  command: "basedpyright-langserver",
  args: ["--stdio"],
  files,
  root,
  group: "python",
  pullsSettings: true,
  // the first completion builds the index of everything that could be imported
  timeouts: { fast: 30_000 },
  install: [{ with: "npm", what: "basedpyright" }],
  settings: {
    python: { pythonPath: "${python}", analysis },
    basedpyright: { analysis: { ...analysis, inlayHints: hints } },
  },
  ready,
  editOnlyCommands: ["basedpyright.organizeimports"],
};

export const pyright: ServerDefinition = {
  id: "pyright",
  command: "pyright-langserver",
  args: ["--stdio"],
  files,
  root,
  group: "python",
  pullsSettings: true,
  // the first completion builds the index of everything that could be imported
  timeouts: { fast: 30_000 },
  install: [{ with: "npm", what: "pyright" }],
  settings: { python: { pythonPath: "${python}", analysis }, pyright: {} },
  ready,
};

export const pylsp: ServerDefinition = {
  id: "pylsp",
  command: "pylsp",
  files,
  root,
  group: "python",
  install: [{ with: "apt", what: "python3-pylsp" }],
  settings: { pylsp: {} },
};

export const ruff: ServerDefinition = {
  id: "ruff",
  command: "ruff",
  args: ["server"],
  files,
  root,
  role: "linter",
  install: [{ with: "pip", what: "ruff" }],
  ready: { by: "none" },
};
