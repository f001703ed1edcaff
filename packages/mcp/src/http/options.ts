import { isIP } from "node:net";

export interface HttpOptions {
  /** @default 0: the system chooses one */
  port?: number;
  /** The address to listen on. Others than loopback need `allowedHosts` and a token. @default "127.0.0.1" */
  host?: string;
  /** Names that the `Host` header may carry beside loopback's own, with or without a port. */
  allowedHosts?: readonly string[];
  /** Origins of web pages that may call, as browsers send them (`https://app.example`). @default none */
  allowedOrigins?: readonly string[];
  /**
   * What a client must send as `Authorization: Bearer …`, at least 32 bytes; several give each its own sessions.
   * @default one made at start
   */
  token?: string | readonly string[];
  /** `false` serves without a token, on loopback only. @default true */
  auth?: boolean;
  /** Sessions of 2025 clients at one time. @default 64 */
  maxSessions?: number;
  /** Calls that one session may run at one time. @default 16 */
  maxCalls?: number;
  /** After this long without a request a session ends, in milliseconds. @default 1_800_000 */
  idleMs?: number;
}

const minTokenBytes = 32;

/** Options that can be served: checked, with defaults. */
export interface HttpSettings {
  port: number;
  host: string;
  loopback: boolean;
  /** Lower case, `name` or `name:port`. */
  allowedHosts: ReadonlySet<string>;
  allowedOrigins: ReadonlySet<string>;
  /** Undefined: one is to be made. Empty: none is asked for. */
  tokens: readonly string[] | undefined;
  maxSessions: number;
  maxCalls: number;
  idleMs: number;
}

/** @throws TypeError that names what is missing for what was asked. */
export function checkHttpOptions(options: HttpOptions): HttpSettings {
  const host = options.host ?? "127.0.0.1";
  const loopback = isLoopback(host);
  const tokens = typeof options.token === "string" ? [options.token] : options.token;
  const faults: string[] = [];
  const port = options.port ?? 0;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) faults.push(`the port is 0 to 65535, not ${port}`);
  for (const token of options.auth === false ? [] : (tokens ?? [])) {
    if (Buffer.byteLength(token) < minTokenBytes)
      faults.push(`a token needs at least ${minTokenBytes} bytes, this one has ${Buffer.byteLength(token)}`);
    // Anything else cannot stand in a header and would lock everybody out.
    else if (!/^[\x21-\x7e]+$/.test(token)) faults.push("a token holds printable ASCII without blanks only");
  }
  if (!loopback) {
    const far = `serving on ${host}, beyond this machine,`;
    if (options.auth === false) faults.push(`${far} needs a token: no-auth is for loopback only`);
    else if (tokens === undefined || tokens.length === 0)
      faults.push(`${far} needs a token of at least ${minTokenBytes} bytes (TOOLHAFT_TOKEN)`);
    if ((options.allowedHosts ?? []).length === 0)
      faults.push(`${far} needs the name that clients call it by (--allowed-host <name>)`);
  }
  const allowedHosts = new Set(loopback ? ["127.0.0.1", "localhost", "[::1]"] : []);
  for (const name of options.allowedHosts ?? []) {
    const parsed = parseHost(name);
    if (parsed === undefined) faults.push(`"${name}" is no host name; give a name or name:port`);
    else allowedHosts.add(parsed.port === undefined ? parsed.name : `${parsed.name}:${parsed.port}`);
  }
  const allowedOrigins = new Set<string>();
  for (const text of options.allowedOrigins ?? []) {
    const origin = parseOrigin(text);
    if (origin === undefined) faults.push(`"${text}" is no origin; give scheme://host, as browsers send it`);
    else allowedOrigins.add(origin);
  }
  if (faults.length > 0) throw new TypeError(`serveHttp: ${faults.join("; ")}`);
  return {
    port,
    host,
    loopback,
    allowedHosts,
    allowedOrigins,
    tokens: options.auth === false ? [] : tokens,
    maxSessions: options.maxSessions ?? 64,
    maxCalls: options.maxCalls ?? 16,
    idleMs: options.idleMs ?? 1_800_000,
  };
}

/** A `Host` value: a name or address, perhaps a port, nothing else. */
export function parseHost(text: string): { name: string; port?: string } | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i.exec(text);
  if (match?.[1] === undefined) return undefined;
  const name = match[1].toLowerCase();
  return match[2] === undefined ? { name } : { name, port: match[2] };
}

function parseOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url === undefined || url.origin === "null" || `${url.origin}/` !== url.href ? undefined : url.origin;
}

function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return isIP(host) === 4 ? host.startsWith("127.") : host === "::1";
}
