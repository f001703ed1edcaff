/** What a value of the config must be. */
export type Shape =
  | { kind: "text" | "flag" | "object" }
  | { kind: "texts"; of?: readonly string[] }
  | { kind: "servers" };

/** Every key of the config. `widens`: it may run something or allow more, so a folder's own needs trust for it. */
export const configKeys: Readonly<Record<string, Shape & { widens: boolean; description: string }>> = {
  $schema: { kind: "text", widens: false, description: "Where the schema of this file lies" },
  families: { kind: "texts", widens: false, description: "Families to serve when none is named" },
  tools: { kind: "texts", widens: false, description: "Only the tools of these names or patterns" },
  without: { kind: "texts", widens: false, description: "Not the tools of these names or patterns" },
  allow: { kind: "texts", widens: true, description: "Rules that allow, such as file.write:/srv/out/**" },
  ask: { kind: "texts", widens: false, description: "Rules that ask a person" },
  deny: { kind: "texts", widens: false, description: "Rules that never allow; they win over every other" },
  readOnly: { kind: "flag", widens: false, description: "Only tools that read" },
  lazy: { kind: "flag", widens: false, description: "Tools are found and loaded by need" },
  structured: { kind: "flag", widens: false, description: "Structured data beside the text" },
  directory: { kind: "text", widens: true, description: "Where relative paths start" },
  options: { kind: "object", widens: true, description: "Options by family" },
  lsp: { kind: "object", widens: true, description: "Language servers" },
  mcpServers: { kind: "servers", widens: true, description: "MCP servers whose tools are served, too" },
};

/** Keys of one entry of `mcpServers`: a program or an address, and how it is bridged. */
export const serverKeys: Readonly<Record<string, Shape | { kind: "number" } | { kind: "text map" }>> = {
  type: { kind: "text" },
  command: { kind: "text" },
  args: { kind: "texts" },
  env: { kind: "text map" },
  cwd: { kind: "text" },
  url: { kind: "text" },
  headers: { kind: "text map" },
  prefix: { kind: "text" },
  pick: { kind: "texts" },
  omit: { kind: "texts" },
  pins: { kind: "text map" },
  timeoutMs: { kind: "number" },
  elicit: { kind: "flag" },
};

/** One server to bridge, checked. */
export interface ServerConfig {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  prefix?: string;
  pick?: string[];
  omit?: string[];
  pins?: Record<string, string>;
  timeoutMs?: number;
  elicit?: boolean;
}

/** A config as it was written, checked. */
export interface Config {
  families?: string[];
  tools?: string[];
  without?: string[];
  allow?: string[];
  ask?: string[];
  deny?: string[];
  readOnly?: boolean;
  lazy?: boolean;
  structured?: boolean;
  directory?: string;
  options?: Record<string, Record<string, unknown>>;
  lsp?: Record<string, unknown>;
  mcpServers?: Record<string, ServerConfig>;
}
