import { join } from "node:path";

/** How one client keeps its MCP servers. */
export interface ClientFile {
  name: string;
  /** What people call it. */
  title: string;
  /** Candidates in the folder, the first that exists is used, else the first. */
  project: readonly string[];
  /** The same for all of the user's projects. */
  global(home: Home): readonly string[];
  format: "json" | "toml" | "opencode";
  /** Key of the servers, and what stands in an entry beside command and arguments. */
  key: string;
  extra: Readonly<Record<string, unknown>>;
}

export interface Home {
  home: string;
  platform: NodeJS.Platform;
  appData: string | undefined;
  config: string;
}

export const clients: readonly ClientFile[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    project: [".mcp.json"],
    global: ({ home }) => [join(home, ".claude.json")],
    format: "json",
    key: "mcpServers",
    extra: {},
  },
  {
    name: "codex",
    title: "Codex",
    project: [".codex/config.toml"],
    global: ({ home }) => [join(home, ".codex", "config.toml")],
    format: "toml",
    key: "mcp_servers",
    // Its own 10 s are too short for a first npx.
    extra: { startup_timeout_sec: 60 },
  },
  {
    name: "opencode",
    title: "opencode",
    project: ["opencode.json", "opencode.jsonc"],
    global: ({ config }) => [join(config, "opencode", "opencode.json"), join(config, "opencode", "opencode.jsonc")],
    format: "opencode",
    key: "mcp",
    extra: {},
  },
  {
    name: "cursor",
    title: "Cursor",
    project: [".cursor/mcp.json"],
    global: ({ home }) => [join(home, ".cursor", "mcp.json")],
    format: "json",
    key: "mcpServers",
    extra: {},
  },
  {
    name: "vscode",
    title: "VS Code",
    project: [".vscode/mcp.json"],
    global: ({ home, platform, appData, config }) => [
      platform === "darwin"
        ? join(home, "Library", "Application Support", "Code", "User", "mcp.json")
        : platform === "win32"
          ? join(appData ?? join(home, "AppData", "Roaming"), "Code", "User", "mcp.json")
          : join(config, "Code", "User", "mcp.json"),
    ],
    format: "json",
    key: "servers",
    extra: { type: "stdio" },
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    project: [".gemini/settings.json"],
    global: ({ home }) => [join(home, ".gemini", "settings.json")],
    format: "json",
    key: "mcpServers",
    extra: {},
  },
];

/** The one command that every client starts. */
export function serverCommand(version: string, families: readonly string[], windows: boolean): string[] {
  const command = ["npx", "-y", `toolhaft@${version.split(".")[0]}`, "mcp", ...families];
  // npx is a script there, which clients cannot start by themselves.
  return windows ? ["cmd", "/c", ...command] : command;
}
