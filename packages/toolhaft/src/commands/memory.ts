import { createReadStream, createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ToolError } from "@toolhaft/core";
import type { MemoryOptions } from "@toolhaft/memory";
import { CommandFault, exitCodeOf, exitCodes, usageFault } from "../exit-codes.ts";
import { memoryPlace } from "../families.ts";
import type { Io } from "../io.ts";

export interface MemoryFlags {
  store?: string;
  json?: boolean;
  /** Days without use. */
  idle?: number;
  yes?: boolean;
  onConflict?: "skip" | "newer" | "error";
}

export type MemoryAction = "export" | "import" | "check" | "repair" | "purge";

/** What a person may do with the store of memories and no tool. */
export async function memory(
  action: MemoryAction,
  file: string | undefined,
  flags: MemoryFlags,
  io: Io,
): Promise<number> {
  const { createMemory } = await import("@toolhaft/memory");
  await using family = createMemory({ stateDir: () => resolve(io.cwd, ".toolhaft"), ...(await place(flags, io)) });
  const print = (value: object, text: string) =>
    io.out(flags.json ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`);
  try {
    switch (action) {
      case "export": {
        if (file === undefined) for await (const line of family.export({}, io.signal)) io.out(line);
        else
          await pipeline(
            Readable.from(family.export({}, io.signal)),
            createWriteStream(resolve(io.cwd, file), { flags: "wx", mode: 0o600 }),
          );
        return exitCodes.done;
      }
      case "import": {
        if (file === undefined) throw usageFault("import needs a file of JSON Lines, as export writes it");
        const report = await family.import(createReadStream(resolve(io.cwd, file)), {
          onConflict: flags.onConflict ?? "skip",
          signal: io.signal,
        });
        for (const { line, reason } of report.problems) io.err(`line ${line}: ${reason}\n`);
        print(
          report,
          `${report.imported} imported, ${report.updated} updated, ${report.skipped} skipped, ${report.problems.length} left out`,
        );
        return report.problems.length > 0 ? exitCodes.failed : exitCodes.done;
      }
      case "check":
      case "repair": {
        const report = await (action === "check" ? family.check() : family.repair());
        for (const problem of report.problems) io.err(`${problem}\n`);
        print(report, `${report.ok ? "ok" : "not in order"}: ${report.memories} memories, ${report.live} of them live`);
        return report.ok ? exitCodes.done : exitCodes.failed;
      }
      default: {
        if (flags.yes !== true)
          throw usageFault("purge deletes for good what is forgotten or superseded: say so with --yes");
        const deleted = await family.purge(flags.idle === undefined ? {} : { idleDays: flags.idle });
        print({ deleted }, `${deleted} deleted for good`);
        return exitCodes.done;
      }
    }
  } catch (error) {
    if (error instanceof ToolError)
      throw new CommandFault(
        exitCodeOf(error.code),
        error.hint === undefined ? error.message : `${error.message}; ${error.hint}`,
      );
    if (error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z]+$/.test(error.code))
      throw usageFault(`${file ?? "the store"}: ${error.message}`);
    throw error;
  }
}

function place(flags: MemoryFlags, io: Io): Promise<Pick<MemoryOptions, "path" | "store">> {
  const store = flags.store ?? resolve(io.cwd, ".toolhaft");
  return memoryPlace({ store: /^postgres(ql)?:\/\//.test(store) ? store : resolve(io.cwd, store) });
}
