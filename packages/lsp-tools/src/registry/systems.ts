// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { FileMatch, ServerDefinition } from "../definition.ts";

export const gopls: ServerDefinition = {
  id: "go",
  command: "gopls",
  files: [
    { languageId: "go", extensions: [".go"] },
    { languageId: "go.mod", names: ["go.mod"] },
    { languageId: "go.work", names: ["go.work"] },
  ],
  root: { markers: ["go.mod"], pick: "nearest", first: ["go.work"] },
  install: [{ with: "go", what: "golang.org/x/tools/gopls@latest" }],
  settings: {
    gopls: {
      semanticTokens: true,
      codelenses: { generate: true, test: true, tidy: true, upgrade_dependency: true, vendor: true },
      hints: {
        assignVariableTypes: true,
        compositeLiteralFields: true,
        constantValues: true,
        functionTypeParameters: true,
        parameterNames: true,
        rangeVariableTypes: true,
      },
    },
  },
  ready: { by: "progress" },
  editOnlyCommands: ["gopls.apply_fix"],
};

export const rust: ServerDefinition = {
  id: "rust",
  command: "rust-analyzer",
  files: [{ languageId: "rust", extensions: [".rs"] }],
  root: { markers: ["Cargo.toml"], pick: "outermost" },
  install: [{ with: "rustup", what: "rust-analyzer" }],
  stub: {
    matches: "unknown binary|not installed|is not a known component|rustup",
    install: "rustup component add rust-analyzer",
  },
  initializationOptions: {
    lens: { enable: true, references: { adt: { enable: true }, method: { enable: true } } },
    inlayHints: { typeHints: { enable: true }, parameterHints: { enable: true } },
  },
  untrusted: {
    initializationOptions: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
  },
  experimental: { serverStatusNotification: true },
  timeouts: { ready: 180_000 },
  ready: {
    by: "notification",
    method: "experimental/serverStatus",
    path: "quiescent",
    matches: "true",
    ignoreTitles: ["cargo check", "cargo clippy", "flycheck"],
  },
};

const cFiles: FileMatch[] = [
  { languageId: "c", extensions: [".c", ".h"] },
  { languageId: "cpp", extensions: [".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".inl", ".tpp"] },
  { languageId: "objective-c", extensions: [".m"] },
  { languageId: "objective-cpp", extensions: [".mm"] },
  { languageId: "cuda-cpp", extensions: [".cu", ".cuh"] },
];
const cRoot: ServerDefinition["root"] = {
  markers: ["compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"],
  pick: "nearest",
};

export const clangd: ServerDefinition = {
  id: "clangd",
  command: "clangd",
  args: ["--background-index", "--clang-tidy"],
  alternatives: Array.from({ length: 9 }, (_, index) => ({ command: `clangd-${22 - index}` })),
  files: cFiles,
  root: cRoot,
  group: "c",
  install: [{ with: "apt", what: "clangd" }],
  initializationOptions: { clangdFileStatus: true },
  editOnlyCommands: ["clangd.applyFix", "clangd.applyTweak"],
  timeouts: { push: 30_000 },
  ready: {
    by: "progress",
    needs: ["compile_commands.json", "build/compile_commands.json", "compile_flags.txt"],
    needsHint: "generate compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or bear -- make)",
  },
};

export const ccls: ServerDefinition = {
  id: "ccls",
  command: "ccls",
  files: cFiles,
  root: cRoot,
  group: "c",
  install: [{ with: "apt", what: "ccls" }],
  initializationOptions: { cache: { directory: "${cache}/ccls" } },
  ready: { by: "progress" },
};

export const java: ServerDefinition = {
  id: "java",
  command: "jdtls",
  args: ["-data", "${cache}/jdtls/${root#}"],
  files: [{ languageId: "java", extensions: [".java"] }],
  root: {
    markers: ["settings.gradle", "settings.gradle.kts", "pom.xml", "build.gradle", "build.gradle.kts"],
    pick: "outermost",
  },
  install: [{ with: "site", what: "https://github.com/eclipse-jdtls/eclipse.jdt.ls" }],
  timeouts: { initialize: 120_000, ready: 180_000 },
  ready: { by: "notification", method: "language/status", path: "type", matches: "ServiceReady" },
};
