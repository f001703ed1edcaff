import type { ErrorCode } from "@toolhaft/core";

/** What scripts read. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unavailable: 3,
  denied: 4,
  timeout: 124,
  cancelled: 130,
} as const;

/** The exit code of a tool's failure. */
export function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case "invalid_input":
      return exitCodes.usage;
    case "unavailable":
      return exitCodes.unavailable;
    case "denied":
      return exitCodes.denied;
    case "timeout":
      return exitCodes.timeout;
    case "cancelled":
      return exitCodes.cancelled;
    default:
      return exitCodes.failed;
  }
}

/** Ends a command with one line that says what to do. */
export class CommandFault extends Error {
  override readonly name = "CommandFault";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Wrong usage or input. */
export function usageFault(message: string): CommandFault {
  return new CommandFault(exitCodes.usage, message);
}
