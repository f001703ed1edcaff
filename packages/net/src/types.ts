import type { Socket } from "node:net";
import type { Ask, Clock } from "@toolhaft/core";

/** Why an address is not an ordinary public one. */
export type AddressKind =
  | "loopback"
  | "private"
  | "linkLocal"
  | "metadata"
  | "embedded"
  | "multicast"
  | "reserved"
  | "self";

/** `metadata` addresses answer with a cloud's credentials; no option ever allows them. */
export type AddressClass = { public: true } | { public: false; kind: AddressKind; metadata: boolean };

/** The word in `details.rule` of a refusal. */
export type Rule = "name.local" | `address.${AddressKind}` | "option.deny" | "robots" | "redirect.body";

/** One answer of a look-up. */
export interface Answer {
  address: string;
  family: 4 | 6;
}

/** Looks a host up once. An empty list means that the name has no address. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly Answer[]>;

/** Opens a socket to an address that the policy has already admitted. */
export type Dial = (target: Answer & { port: number }, signal: AbortSignal) => Promise<Socket>;

/** A URL that passed the rules on its text: scheme, name, literal. Its host has not been looked up. */
export interface CheckedUrl {
  url: URL;
  /** Without brackets and without the dots at its end. */
  host: string;
  port: number;
  /** Set when the host is an address and not a name. */
  literal?: AddressClass;
}

/** Something a reader should know of an answer: `downgraded`, `resolved_by_proxy`, `range_complete`. */
export interface Note {
  code: string;
  message: string;
}

/** A place that a filtering proxy did not connect to. */
export interface Blocked {
  origin: string;
  rule: string;
}

/** Whose request it is: a `ToolContext` fits. Without `ask` only the address policy decides. */
export interface NetScope {
  signal?: AbortSignal;
  ask?: Ask;
}

export interface NetRequest {
  url: string | URL;
  /** @default "GET" */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
  /** What the gate is asked for. @default "net.fetch" */
  permission?: string;
  /** Hops that are followed, 0–20; `"manual"` gives the redirect itself back. @default 5 */
  redirects?: number | "manual";
  /** From the call to the last byte, waits and retries included. @default 30_000 */
  timeoutMs?: number;
  /** From the request to the end of the response's headers. @default 15_000 */
  headersTimeoutMs?: number;
  /** Decoded bytes of the body. @default 20 MiB */
  maxBytes?: number;
  /** Bytes of the body as they arrive. @default the same as `maxBytes` */
  maxWireBytes?: number;
  /** @default 3 attempts for GET and HEAD, 1 for all others */
  retry?: { attempts?: number };
  /** The rest of a body of which `start` bytes are there; `validator` is a strong ETag or a Last-Modified date. */
  range?: { start: number; validator: string };
  /** `"identity"` asks the server not to compress. */
  encoding?: "identity";
}

export interface NetResponse {
  /** Where the body came from, after redirects. */
  url: string;
  status: number;
  statusText: string;
  /** Names in lower case; several `set-cookie` are joined by a line break, others by a comma. */
  headers: ReadonlyMap<string, string>;
  redirects: readonly { status: number; from: string; to: string }[];
  notes: readonly Note[];
  /** Decoded and capped; can be read once. Throws `too_large`, `timeout`, `cancelled`, `upstream`, `unsupported`. */
  body: AsyncIterable<Uint8Array>;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
  /** At most `limit` bytes; the rest is not fetched. `complete` is false when the body is longer or was cut. */
  prefix(limit: number): Promise<{ bytes: Uint8Array; complete: boolean }>;
  /** Lets the body go: up to 64 KiB are read so that the socket can be used again, else it is closed. */
  discard(): Promise<void>;
  /** Bytes so far: as they arrived and after decoding. */
  sizes(): { wire: number; decoded: number };
}

export interface NetOptions {
  /** Special places that may be reached: `"localhost:3000"`, `"*.corp.example"`, `"10.1.0.0/16"`, `"[fd12::]/16"`; a port is optional. @default none */
  allow?: readonly string[];
  /** Host patterns and CIDR blocks that are refused; wins over `allow`. @default none */
  deny?: readonly string[];
  /** Answers of these ranges count as public (VPNs with made-up addresses); literals stay refused. @default none */
  resolvedRanges?: readonly string[];
  /** @default ["64:ff9b::/96"] */
  nat64Prefixes?: readonly string[];
  /** @default the system's look-up: hosts file, VPN */
  resolve?: Resolve;
  /** @default a TCP connection whose peer is compared with the address asked for */
  dial?: Dial;
  /** This machine's own addresses. @default those of its interfaces */
  ownAddresses?(): readonly string[];
  /** @default "none" */
  proxy?: "none" | "environment" | { url: string; noProxy?: readonly string[] };
  /** Further certificate authorities (PEM), beside those of the runtime. */
  ca?: string | readonly string[];
  /** @default "toolhaft/<version>" */
  userAgent?: string;
  /** Least time between two starts to one origin. @default 250 */
  minIntervalMs?: number;
  /** @default 6 */
  maxConnectionsPerOrigin?: number;
  /** @default "off" */
  robots?: "off" | "respect";
  clock?: Clock;
}

export interface ProxyOptions {
  /** Told of every place that was refused, once per origin and rule. */
  onBlocked?(blocked: Blocked): void;
  /** Told of every origin that could not be reached, with the reason. */
  onFailed?(origin: string, error: Error): void;
  /** Over all connections, both ways. @default 200 MiB */
  maxBytes?: number;
  /** Ports that may be reached beside 80, 443 and those of `allow`: the port of the page that is opened. */
  ports?: readonly number[];
}

/** A proxy on loopback whose every connection passes the address policy. */
export interface FilteringProxy {
  /** `http://127.0.0.1:port` */
  server: string;
  username: string;
  password: string;
  /** Bytes that went through so far. */
  bytes(): number;
  close(): Promise<void>;
}

export interface Net extends AsyncDisposable {
  /** Rules on the text of a URL alone. @throws ToolError `invalid_input`, `denied` */
  check(url: string | URL): CheckedUrl;
  /** Sends a request; resolves with the head of the answer. @throws ToolError */
  request(request: NetRequest, scope: NetScope): Promise<NetResponse>;
  /** For a browser or a child process: a proxy that lives until `close` or the scope's signal. */
  openProxy(scope: NetScope, options?: ProxyOptions): Promise<FilteringProxy>;
  /** Aborts what runs and closes every socket. */
  close(): Promise<void>;
}
