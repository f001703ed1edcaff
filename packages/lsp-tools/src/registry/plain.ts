// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { FileMatch, Install, Json, ServerDefinition } from "../definition.ts";

interface PlainServer {
  id: string;
  run: string;
  files: FileMatch[];
  markers: string[];
  install: [Install["with"], string];
  group?: string;
  options?: Json;
  more?: Partial<ServerDefinition>;
}

const language = (languageId: string, ...extensions: string[]): FileMatch => ({ languageId, extensions });

const ruby = [
  { languageId: "ruby", extensions: [".rb", ".rake", ".gemspec"], names: ["Gemfile", "Rakefile"], shebangs: ["ruby"] },
];
const php = [language("php", ".php", ".phtml")];
const elixir = [language("elixir", ".ex", ".exs"), language("eex", ".eex", ".heex", ".leex")];
const nix = [language("nix", ".nix")];

/** Servers that need nothing but to be started. */
const rows: PlainServer[] = [
  {
    id: "kotlin",
    run: "kotlin-lsp --stdio",
    files: [language("kotlin", ".kt", ".kts")],
    markers: ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle", "pom.xml"],
    install: ["site", "https://github.com/Kotlin/kotlin-lsp"],
    more: { timeouts: { ready: 180_000 } },
  },
  {
    id: "csharp",
    run: "csharp-ls",
    files: [language("csharp", ".cs", ".csx")],
    markers: ["*.sln", "*.slnx", "*.csproj"],
    install: ["dotnet", "csharp-ls"],
  },
  {
    id: "lua",
    run: "lua-language-server",
    files: [{ languageId: "lua", extensions: [".lua"], shebangs: ["lua"] }],
    markers: [".luarc.json", ".luarc.jsonc", "stylua.toml", ".git"],
    install: ["brew", "lua-language-server"],
  },
  { id: "ruby-lsp", run: "ruby-lsp", files: ruby, markers: ["Gemfile"], install: ["gem", "ruby-lsp"], group: "ruby" },
  {
    id: "solargraph",
    run: "solargraph stdio",
    files: ruby,
    markers: ["Gemfile", ".solargraph.yml"],
    install: ["gem", "solargraph"],
    group: "ruby",
  },
  {
    id: "intelephense",
    run: "intelephense --stdio",
    files: php,
    markers: ["composer.json"],
    install: ["npm", "intelephense"],
    group: "php",
    options: { storagePath: "${cache}/intelephense", globalStoragePath: "${cache}/intelephense" },
  },
  {
    id: "phpactor",
    run: "phpactor language-server",
    files: php,
    markers: ["composer.json", ".phpactor.json"],
    install: ["site", "https://phpactor.readthedocs.io"],
    group: "php",
  },
  {
    id: "zig",
    run: "zls",
    files: [language("zig", ".zig", ".zon")],
    markers: ["build.zig"],
    install: ["site", "https://github.com/zigtools/zls"],
    more: { editsOpenFilesOnly: true },
  },
  {
    id: "elixir-ls",
    run: "elixir-ls",
    files: elixir,
    markers: ["mix.exs"],
    install: ["brew", "elixir-ls"],
    group: "elixir",
  },
  {
    id: "expert",
    run: "expert --stdio",
    files: elixir,
    markers: ["mix.exs"],
    install: ["site", "https://github.com/elixir-lang/expert"],
    group: "elixir",
  },
  {
    id: "erlang",
    run: "elp server",
    files: [language("erlang", ".erl", ".hrl")],
    markers: ["rebar.config", "erlang.mk"],
    install: ["site", "https://github.com/WhatsApp/erlang-language-platform"],
  },
  {
    id: "haskell",
    run: "haskell-language-server-wrapper --lsp",
    files: [language("haskell", ".hs", ".lhs")],
    markers: ["hie.yaml", "stack.yaml", "cabal.project", "*.cabal", "package.yaml"],
    install: ["site", "https://www.haskell.org/ghcup"],
    more: { timeouts: { ready: 180_000 } },
  },
  {
    id: "ocaml",
    run: "ocamllsp",
    files: [
      language("ocaml", ".ml"),
      language("ocaml.interface", ".mli"),
      language("ocaml.menhir", ".mly"),
      language("ocaml.ocamllex", ".mll"),
    ],
    markers: ["dune-project", "dune-workspace", "*.opam"],
    install: ["opam", "ocaml-lsp-server"],
  },
  {
    id: "scala",
    run: "metals",
    files: [language("scala", ".scala", ".sbt", ".sc")],
    markers: ["build.sbt", "build.sc", "build.mill", "build.gradle", "pom.xml"],
    install: ["site", "https://scalameta.org/metals"],
    more: { timeouts: { initialize: 120_000, ready: 180_000 } },
  },
  {
    id: "swift",
    run: "sourcekit-lsp",
    files: [language("swift", ".swift")],
    markers: ["Package.swift", "*.xcodeproj", "buildServer.json"],
    install: ["site", "https://www.swift.org/install"],
  },
  {
    id: "dart",
    run: "dart language-server --protocol=lsp",
    files: [language("dart", ".dart")],
    markers: ["pubspec.yaml"],
    install: ["site", "https://dart.dev/get-dart"],
  },
  {
    id: "clojure",
    run: "clojure-lsp",
    files: [language("clojure", ".clj", ".cljs", ".cljc", ".edn", ".bb")],
    markers: ["deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn"],
    install: ["brew", "clojure-lsp/brew/clojure-lsp-native"],
  },
  {
    id: "terraform",
    run: "terraform-ls serve",
    files: [language("terraform", ".tf"), language("terraform-vars", ".tfvars")],
    markers: [".terraform", "*.tf"],
    install: ["brew", "hashicorp/tap/terraform-ls"],
  },
  {
    id: "toml",
    run: "taplo lsp stdio",
    files: [{ languageId: "toml", extensions: [".toml"], names: ["Cargo.lock", "poetry.lock"] }],
    markers: [".taplo.toml", "taplo.toml", ".git"],
    install: ["cargo", "taplo-cli --features lsp"],
  },
  {
    id: "nixd",
    run: "nixd",
    files: nix,
    markers: ["flake.nix", "default.nix", "shell.nix"],
    install: ["site", "https://github.com/nix-community/nixd"],
    group: "nix",
  },
  {
    id: "nil",
    run: "nil",
    files: nix,
    markers: ["flake.nix", "default.nix", "shell.nix"],
    install: ["cargo", "nil"],
    group: "nix",
  },
  {
    id: "gleam",
    run: "gleam lsp",
    files: [language("gleam", ".gleam")],
    markers: ["gleam.toml"],
    install: ["site", "https://gleam.run/getting-started/installing"],
  },
  {
    id: "elm",
    run: "elm-language-server",
    files: [language("elm", ".elm")],
    markers: ["elm.json"],
    install: ["npm", "@elm-tooling/elm-language-server"],
  },
  {
    id: "perl",
    run: "perlnavigator --stdio",
    files: [{ languageId: "perl", extensions: [".pl", ".pm", ".t"], shebangs: ["perl"] }],
    markers: ["cpanfile", "Makefile.PL", "dist.ini", ".git"],
    install: ["npm", "perlnavigator-server"],
  },
  {
    id: "r",
    run: "R --no-echo -e languageserver::run()",
    files: [language("r", ".r", ".R"), language("rmd", ".rmd", ".Rmd")],
    markers: ["DESCRIPTION", ".Rproj", "*.Rproj"],
    install: ["site", "https://cran.r-project.org/package=languageserver"],
  },
  {
    id: "fortran",
    run: "fortls",
    files: [language("fortran", ".f90", ".f95", ".f03", ".f08", ".f", ".for")],
    markers: [".fortls", "fpm.toml", ".git"],
    install: ["pip", "fortls"],
  },
  {
    id: "cmake",
    run: "cmake-language-server",
    files: [{ languageId: "cmake", extensions: [".cmake"], names: ["CMakeLists.txt"] }],
    markers: ["CMakeLists.txt"],
    install: ["pip", "cmake-language-server"],
  },
  {
    id: "latex",
    run: "texlab",
    files: [language("latex", ".tex", ".sty", ".cls"), language("bibtex", ".bib")],
    markers: [".latexmkrc", "texlabroot", ".git"],
    install: ["cargo", "--git https://github.com/latex-lsp/texlab texlab"],
  },
  {
    id: "typst",
    run: "tinymist lsp",
    files: [language("typst", ".typ")],
    markers: ["typst.toml", ".git"],
    install: ["cargo", "tinymist"],
  },
  {
    id: "vim",
    run: "vim-language-server --stdio",
    files: [{ languageId: "vim", extensions: [".vim"], names: [".vimrc", "vimrc"] }],
    markers: [".git"],
    install: ["npm", "vim-language-server"],
  },
  {
    id: "solidity",
    run: "nomicfoundation-solidity-language-server --stdio",
    files: [language("solidity", ".sol")],
    markers: ["hardhat.config.js", "hardhat.config.ts", "foundry.toml", "package.json"],
    install: ["npm", "@nomicfoundation/solidity-language-server"],
  },
  {
    id: "ansible",
    run: "ansible-language-server --stdio",
    files: [{ languageId: "ansible", names: ["playbook*.yml", "playbook*.yaml", "site.yml"] }],
    markers: ["ansible.cfg", ".ansible-lint"],
    install: ["npm", "@ansible/ansible-language-server"],
  },
];

export const plainServers: ServerDefinition[] = rows.map(
  ({ id, run, files, markers, install, group, options, more }) => {
    const [command = "", ...args] = run.split(" ");
    return {
      id,
      command,
      args,
      files,
      root: { markers, pick: "nearest" as const },
      install: [{ with: install[0], what: install[1] }],
      ...(group && { group }),
      ...(options !== undefined && { initializationOptions: options }),
      ...more,
    };
  },
);
