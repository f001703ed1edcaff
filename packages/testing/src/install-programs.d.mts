/** The folder that holds `node_modules`, or why it cannot be had here. */
export type Installed = { folder: string; problem?: never } | { folder?: never; problem: string };

export function installPrograms(
  dependencies: Readonly<Record<string, string>>,
  options?: { scripts?: boolean; env?: Readonly<Record<string, string>> },
): Promise<Installed>;

export function node22(): Promise<{ command: string; problem?: never } | { command?: never; problem: string }>;

export function sqliteFor22(
  version: string,
): Promise<{ file: string; problem?: never } | { file?: never; problem: string }>;
