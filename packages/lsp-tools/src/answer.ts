/** 0-based; `character` counts UTF-16 code units. */
export interface Pos {
  line: number;
  character: number;
}

/** End exclusive. */
export interface Range {
  start: Pos;
  end: Pos;
}

/** One spot in a file. `path` is relative to the context's directory when the file lies below it. */
export interface Place {
  path: string;
  range: Range;
  name?: string | undefined;
  kind?: string | undefined;
  /** The source line, trimmed, at most 100 characters cut around the spot. */
  text?: string | undefined;
}

/** What a position or a symbol hit. */
export interface Target {
  path: string;
  position: Pos;
  name?: string | undefined;
  kind?: string | undefined;
  text: string;
  /** The given position touched no identifier and was moved to the nearest of the line. */
  snapped: boolean;
}

export type Outcome = "answered" | "empty" | "unsupported" | "not_ready" | "failed" | "timed_out";

export interface ServerReport {
  id: string;
  root: string;
  ms: number;
  message?: string | undefined;
  outcome: Outcome;
}

/** Part of every result: who was asked, and whether the answer is all there is. */
export interface Answer {
  target?: Target | undefined;
  servers: ServerReport[];
  /** Every server asked has answered and had loaded its project. */
  complete: boolean;
  /** One sentence why not. */
  incomplete?: string | undefined;
}

export interface Page {
  /** All that the servers returned, after merging. */
  total: number;
  offset: number;
  shown: number;
}

export const severities = ["error", "warning", "information", "hint"] as const;
export type Severity = (typeof severities)[number];

export interface FileDiagnostic {
  range: Range;
  severity: Severity;
  code?: string | undefined;
  source?: string | undefined;
  message: string;
  server: string;
  tags?: ("unnecessary" | "deprecated")[] | undefined;
  related?: { path: string; range: Range; message: string }[] | undefined;
}

/** What `lsp_diagnostics` gives. */
export interface DiagnosticsData extends Answer, Page {
  files: { path: string; freshness: "current" | "unconfirmed"; diagnostics: FileDiagnostic[] }[];
  counts: Record<Severity, number>;
  /** Below the level that was asked for. */
  hidden: number;
}

/** What the four writing tools give. */
export interface EditData extends Answer {
  status: "applied" | "preview" | "no_change";
  totalFiles: number;
  totalEdits: number;
  files: EditedFile[];
  annotations: { label: string; description?: string | undefined; needsConfirmation: boolean; edits: number }[];
  skippedCommands?: string[] | undefined;
  /** Unified diff, on a preview. */
  diff?: string | undefined;
}

export interface EditedFile {
  path: string;
  operation: "edit" | "create" | "rename" | "delete";
  to?: string | undefined;
  edits: number;
  added: number;
  removed: number;
  lines: number[];
}
