import { type ErrorCode, ToolError } from "@toolhaft/core";

/** The code of a system error, `undefined` for any other value. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || error instanceof ToolError) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether the error says that nothing is there. */
export function isAbsent(error: unknown): boolean {
  return systemCode(error) === "ENOENT";
}

/** Whether the file system has no hard links here, or not between these two places. */
export function cannotLink(error: unknown): boolean {
  const code = systemCode(error);
  return code !== undefined && ["EPERM", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(code);
}

const meanings: Record<string, { code: ErrorCode; words: string; hint?: string }> = {
  ENOENT: { code: "not_found", words: "no such file or folder" },
  ENOTDIR: { code: "invalid_input", words: "a part of the path is a file, not a folder" },
  EISDIR: { code: "unsupported", words: "it is a folder" },
  EEXIST: { code: "conflict", words: "it exists already" },
  ENOTEMPTY: { code: "conflict", words: "the folder is not empty" },
  EACCES: {
    code: "denied",
    words: "the system does not permit it",
    hint: "change the permissions, or choose another path",
  },
  EPERM: {
    code: "denied",
    words: "the system does not permit it",
    hint: "change the permissions, or choose another path",
  },
  EROFS: { code: "denied", words: "the file system is read-only", hint: "choose another path" },
  ELOOP: { code: "denied", words: "symbolic links lead in a circle" },
  ENAMETOOLONG: { code: "invalid_input", words: "the path is too long" },
  ENOSPC: { code: "unavailable", words: "no space is left on the device", hint: "free some space and repeat the call" },
  EDQUOT: { code: "unavailable", words: "the disk quota is used up", hint: "free some space and repeat the call" },
  EFBIG: { code: "too_large", words: "the file would be larger than the system allows" },
  EIO: {
    code: "unavailable",
    words: "the device reports an input/output error",
    hint: "check the disk, then repeat the call",
  },
  EMFILE: { code: "unavailable", words: "too many files are open", hint: "repeat the call later" },
  ENFILE: { code: "unavailable", words: "too many files are open", hint: "repeat the call later" },
  EBUSY: { code: "unavailable", words: "another program holds it", hint: "close that program and repeat the call" },
  EXDEV: { code: "unsupported", words: "the two places are on different devices" },
};

/** Says what failed in words; a `ToolError` passes through. */
export function toToolError(error: unknown, doing: string): ToolError {
  if (error instanceof ToolError) return error;
  const code = systemCode(error);
  const meaning = code === undefined ? undefined : meanings[code];
  if (meaning) {
    return new ToolError(meaning.code, `cannot ${doing}: ${meaning.words} (${code})`, {
      ...(meaning.hint === undefined ? {} : { hint: meaning.hint }),
      cause: error,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ToolError("internal", `cannot ${doing}: ${message}`, { cause: error });
}

/** A folder that the tools themselves need cannot be made: no fault of the call, and nothing it could change. */
export function cannotMake(error: unknown, folder: string, option: string): ToolError {
  const fault = toToolError(error, `make ${folder}`);
  // A full disk is unavailable already, with a hint of its own.
  if (error instanceof ToolError || fault.code === "unavailable") return fault;
  return new ToolError("unavailable", fault.message, {
    hint: `make the folder that holds it, permit writing there, or choose another ${option}`,
    cause: error,
  });
}
