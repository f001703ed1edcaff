export interface OpencodeStoreOptions {
  /** Its data folder. @default `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode` */
  data?: string;
  /** A running `opencode serve`, for forks. */
  server?: { url: string; headers?: Record<string, string> };
  /** The program, for forks: a server over `data` is started on loopback and stopped again. @default "opencode" */
  command?: string;
}
