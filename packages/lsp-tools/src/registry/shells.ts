import type { ServerDefinition } from "../definition.ts";

export const bash: ServerDefinition = {
  id: "bash",
  command: "bash-language-server",
  args: ["start"],
  files: [
    {
      languageId: "shellscript",
      extensions: [".sh", ".bash", ".ksh"],
      names: [".bashrc", ".bash_profile", ".profile"],
      shebangs: ["sh", "bash", "dash", "ksh"],
    },
  ],
  root: { markers: [".git"], pick: "nearest" },
  install: [
    { with: "npm", what: "bash-language-server" },
    { with: "apt", what: "shellcheck shfmt" },
  ],
};

export const dockerfile: ServerDefinition = {
  id: "dockerfile",
  command: "docker-langserver",
  args: ["--stdio"],
  files: [
    {
      languageId: "dockerfile",
      extensions: [".dockerfile"],
      names: ["Dockerfile", "Dockerfile.*", "Containerfile", "Containerfile.*"],
    },
  ],
  root: { markers: [".git"], pick: "nearest" },
  install: [{ with: "npm", what: "dockerfile-language-server-nodejs" }],
  ready: { by: "none" },
};
