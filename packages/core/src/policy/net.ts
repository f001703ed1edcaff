import { labelPattern, type Matcher, pathPattern } from "./pattern.ts";

/**
 * A pattern over `scheme://host:port/path`: the host by dot label, an IP literal exactly or by CIDR; scheme, port and
 * path may be left out.
 *
 * @throws TypeError when the pattern has no host.
 */
export function netPattern(pattern: string): Matcher {
  if (pattern === "*") return () => true;
  const parts =
    /^(?:([a-z][a-z0-9+.-]*|\*):\/\/)?(\[[^\]]*\](?:\/\d{1,3}(?=$))?|[^/:?#]+|[0-9a-f]*:[0-9a-f:.]+(?:\/\d{1,3})?)(?::(\d{1,5}|\*))?(\/.*)?$/i.exec(
      pattern,
    );
  const [, scheme, host, port, path] = parts ?? [];
  if (host === undefined)
    throw new TypeError(`policy: "${pattern}" names no host; write host, host:port or https://host/path`);
  const cidr = cidrOf(host, path);
  const hostMatches = cidr ?? hostMatcher(host);
  const pathRegExp = path === undefined || cidr !== undefined ? undefined : pathPattern(path);
  return (value) => {
    const url = parseResource(value);
    if (url === undefined) return value === pattern;
    if (scheme !== undefined && scheme !== "*" && url.scheme !== scheme.toLowerCase()) return false;
    if (port !== undefined && port !== "*" && url.port !== Number(port)) return false;
    if (pathRegExp !== undefined && !pathRegExp.test(url.path)) return value === pattern;
    return hostMatches(url.host);
  };
}

interface Resource {
  scheme: string;
  host: string;
  port: number | undefined;
  path: string;
}

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
  "ftp:": 21,
};

function parseResource(value: string): Resource | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  const port = url.port === "" ? defaultPorts[url.protocol] : Number(url.port);
  const host = url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  return host === "" ? undefined : { scheme: url.protocol.slice(0, -1), host, port, path: url.pathname };
}

function hostMatcher(host: string): Matcher {
  const wanted = host.replace(/^\[|\]$/g, "").toLowerCase();
  if (wanted === "*" || wanted === "**") return () => true;
  const address = ipBits(wanted);
  if (address !== undefined) return (value) => ipBits(value) === address;
  if (!wanted.includes("*")) return (value) => value === wanted;
  const byLabel = labelPattern(wanted);
  // The labels of an address are no names: 10.*.*.* is written as CIDR.
  return (value) => ipBits(value) === undefined && byLabel.test(value);
}

/** `10.0.0.0/8` and `2001:db8::/32`. The prefix length may have been read as a path. */
function cidrOf(host: string, path: string | undefined): Matcher | undefined {
  const whole = /^\/\d{1,3}$/.test(path ?? "") ? host + path : host;
  const [address, length] = whole.split("/");
  if (address === undefined || length === undefined) return undefined;
  const bits = ipBits(address.replace(/^\[|\]$/g, ""));
  const size = Number(length);
  if (bits === undefined || size > bits.length) return undefined;
  const prefix = bits.slice(0, size);
  return (value) => {
    const other = ipBits(value);
    return other !== undefined && other.length === bits.length && other.startsWith(prefix);
  };
}

/** The bits of an IP literal as text of 0 and 1; `undefined` for a name. Addresses mapped into IPv6 count as IPv4. */
function ipBits(host: string): string | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) {
    const bytes = host.split(".").map(Number);
    return bytes.every((byte) => byte < 256) ? bytes.map((byte) => bits(byte, 8)).join("") : undefined;
  }
  if (!host.includes(":") || !URL.canParse(`http://[${host}]/`)) return undefined;
  const canonical = new URL(`http://[${host}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  const groups = [...left, ...zeros, ...right].map((group) => bits(Number.parseInt(group, 16), 16));
  const all = groups.join("");
  return all.startsWith("0".repeat(80) + "1".repeat(16)) ? all.slice(96) : all;
}

function bits(value: number, length: number): string {
  return value.toString(2).padStart(length, "0");
}
