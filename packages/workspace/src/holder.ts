import { createHash } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { processStart } from "@toolhaft/core/node";
import { systemCode } from "./system-error.ts";

/** Who holds a lock or owns a journal. */
export interface Holder {
  readonly pid: number;
  /** Tells a recycled pid; null where the system does not say. */
  readonly processStart: string | null;
  readonly host: string;
  readonly pidNamespace: string;
  /** Unique for every taking of locks. */
  readonly token: string;
  /** Folder of the commit the lock is held for, whether or not it exists yet. */
  readonly journal: string;
}

export type ProcessFacts = Pick<Holder, "pid" | "processStart" | "host" | "pidNamespace">;

/** `unseen`: on another host or in another pid namespace, so that only the age of its locks tells. */
export type Liveness = "alive" | "dead" | "unseen";

export async function ownFacts(): Promise<ProcessFacts> {
  return { pid: process.pid, processStart: await startOf(process.pid), host: hostname(), pidNamespace: pidNamespace() };
}

export async function livenessOf(holder: ProcessFacts, own: ProcessFacts): Promise<Liveness> {
  if (holder.host !== own.host || holder.pidNamespace !== own.pidNamespace) return "unseen";
  if (!exists(holder.pid)) return "dead";
  const start = holder.pid === own.pid ? own.processStart : await startOf(holder.pid);
  if (start === null) return process.platform === "win32" && exists(holder.pid) ? "alive" : "dead";
  return holder.processStart === null || start === holder.processStart ? "alive" : "dead";
}

/** A process in the name of a file, so that its owner is known even where a crash left the file empty. */
export function ownerName({ pid, processStart, host, pidNamespace }: ProcessFacts): string {
  return `${pid}-${short(`${host}\0${pidNamespace}`)}-${short(processStart ?? "")}`;
}

/** Whether the process lives whose {@link ownerName} begins a name. */
export async function livenessByName(name: string, own: ProcessFacts): Promise<Liveness> {
  const [, digits, place, start] = /^(\d+)-([0-9a-f]{8})-([0-9a-f]{8})-/.exec(name) ?? [];
  if (digits === undefined || place !== short(`${own.host}\0${own.pidNamespace}`)) return "unseen";
  const pid = Number(digits);
  const processStart = pid === own.pid ? own.processStart : await startOf(pid);
  const same = processStart !== null && short(processStart) === start;
  return livenessOf({ ...own, pid, processStart: same ? processStart : `not ${processStart}` }, own);
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch (error) {
    if (systemCode(error) !== undefined) return "";
    throw error;
  }
}

/** Null where the system does not say; a process that has ended but was not yet waited for has no start either. */
async function startOf(pid: number): Promise<string | null> {
  return (await processStart(pid)) ?? null;
}

/** A holder out of the text of a lock file; `undefined` for a torn or foreign one. */
export function parseHolder(text: string): Holder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isHolder(value) ? value : undefined;
}

export function isHolder(value: unknown): value is Holder {
  if (typeof value !== "object" || value === null) return false;
  const { pid, processStart, host, pidNamespace: namespace, token, journal } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    (processStart === null || typeof processStart === "string") &&
    [host, namespace, token, journal].every((part) => typeof part === "string") &&
    /^[0-9A-Za-z-]{8,80}$/.test(String(token))
  );
}
