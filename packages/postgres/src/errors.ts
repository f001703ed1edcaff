import { isToolError, ToolError } from "@toolhaft/core";
import type { PostgresOptions } from "./database.ts";

interface Failure {
  code?: string;
  message: string;
}

/** Where the server is, without what opens it. */
export function placeOf(options: Pick<PostgresOptions, "connectionString">): string {
  if (options.connectionString === undefined) return "PostgreSQL";
  try {
    const { hostname, port, pathname } = new URL(options.connectionString);
    return `PostgreSQL at ${hostname || "localhost"}:${port || "5432"}${pathname}`;
  } catch {
    return "PostgreSQL";
  }
}

const socketCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "EPIPE",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
];
const socketTexts =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|timeout expired/i;

function failureOf(error: unknown): Failure {
  // Several addresses of one host fail together.
  if (error instanceof AggregateError && error.errors.length > 0) return failureOf(error.errors[0]);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return { ...(typeof code === "string" && { code }), message: String(message ?? error) };
}

/** The connection is gone, or the server goes or comes. */
export function isTransient(error: unknown): boolean {
  const { code = "", message } = failureOf(error);
  return /^(08|57P0|53300|25P03)/.test(code) || socketCodes.includes(code) || socketTexts.test(message);
}

/** A connection that was never there, or that swallows what is sent: to try again at once would only wait again. */
function isSlow({ code = "", message }: Failure): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "EHOSTUNREACH"].includes(code) || /timeout/i.test(message);
}

/** Whether the same transaction may do better: serialization, deadlock, two that came first, a connection lost. */
export function isRepeatable(error: unknown): boolean {
  if (isToolError(error)) return false;
  const failure = failureOf(error);
  if (["40001", "40P01", "23505"].includes(failure.code ?? "")) return true;
  return isTransient(error) && !isSlow(failure);
}

/** One clear error: what is wrong and what to do. Nothing was changed. */
export function toToolError(error: unknown, options: PostgresOptions, schema: string): unknown {
  if (isToolError(error) || error instanceof TypeError) return error;
  const failure = failureOf(error);
  const { code = "", message } = failure;
  const place = placeOf(options);
  const refuse = (
    kind: ConstructorParameters<typeof ToolError>[0],
    text: string,
    hint: string,
    retryable = false,
  ): ToolError => new ToolError(kind, text, { hint, retryable, cause: error, details: { sqlState: code || null } });
  if (code === "28P01" || code === "28000") {
    return refuse(
      "unavailable",
      `${place} refuses this user or password`,
      "check user and password in the connection string",
    );
  }
  if (code === "3D000")
    return refuse("unavailable", `${place}: there is no such database`, "create it, or correct its name");
  if (code === "42501") {
    return refuse(
      "denied",
      `${place}: this user lacks rights: ${message}`,
      `GRANT CREATE ON DATABASE … TO this user, or let an administrator create schema "${schema}" and own it to this user`,
    );
  }
  if (code === "25006") {
    return refuse(
      "unsupported",
      `${place} is read-only (a replica, or set so)`,
      "give the address of the primary server",
    );
  }
  if (code === "57014" || code === "55P03") {
    return refuse(
      "timeout",
      `${place} was busy longer than a statement may take`,
      "repeat the call; raise statementTimeoutMs",
      true,
    );
  }
  if (code === "53100" || code === "53200") {
    return refuse(
      "unavailable",
      `${place} is out of room: ${message}`,
      "free disk or memory on the server, then repeat the call",
      true,
    );
  }
  if (/timeout exceeded when trying to connect/.test(message)) {
    return refuse(
      "unavailable",
      `${place}: no connection was free or could be made in time`,
      "repeat the call; see that the server is up, or raise max (connections) and connectTimeoutMs",
      true,
    );
  }
  if (/does not support SSL|SSL|certificate|self.signed/i.test(message) || /CERT|TLS/.test(code)) {
    return refuse("unavailable", `${place}: no TLS connection: ${message}`, "check sslmode and the certificates");
  }
  if (isTransient(error)) {
    return refuse(
      "unavailable",
      `${place} cannot be reached: ${message}`,
      "see that the server is up, then repeat the call",
      true,
    );
  }
  return refuse(
    "internal",
    `${place}: ${message}`,
    "this is a fault of the store; report it with the statement's message",
  );
}
