import { isIP } from "node:net";
import { ToolError } from "@toolhaft/core";

const maxUrlLength = 8192;

/** Ports that browsers refuse, because other protocols listen there. @see https://fetch.spec.whatwg.org/#port-blocking */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

export interface ParsedUrl {
  url: URL;
  host: string;
  port: number;
  /** Whether the host is an address. */
  isAddress: boolean;
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError("invalid_input", message, hint === undefined ? {} : { hint });
}

/** A bare host or a URL without scheme, in the form that was probably meant. */
function corrected(text: string): string | undefined {
  const trimmed = text.trim();
  const guess = trimmed.startsWith("//") ? `https:${trimmed}` : `https://${trimmed}`;
  const host = URL.canParse(guess) ? new URL(guess).hostname : "";
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(trimmed)) return undefined;
  if (host === "localhost") return new URL(guess.replace("https:", "http:")).href;
  return host.includes(".") ? new URL(guess).href : undefined;
}

/**
 * The one parser: what it returns is what is checked and what is connected to.
 *
 * @throws ToolError `invalid_input` for another scheme, user name or password, a port that browsers refuse, over 8,192 characters
 */
export function parseUrl(input: string | URL): ParsedUrl {
  const text = String(input);
  if (text.length > maxUrlLength) {
    throw invalid(`the URL has ${text.length} characters, at most ${maxUrlLength} are allowed`, "use a shorter URL");
  }
  if (!URL.canParse(text)) {
    if (text.trim() === "") throw invalid("the URL is empty", "give a whole URL such as https://example.org/");
    const better = corrected(text);
    throw invalid(
      better === undefined ? "the URL cannot be parsed" : "the URL has no scheme",
      better === undefined ? "give a whole URL such as https://example.org/" : `use ${better}`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const better = corrected(text);
    throw invalid(
      `the scheme "${url.protocol.slice(0, 32)}" cannot be fetched, only http: and https:`,
      better === undefined ? "use an http or https URL" : `use ${better}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    url.username = "";
    url.password = "";
    throw invalid("the URL carries a user name or password", `put credentials into headers and use ${url.href}`);
  }
  const trimmed = url.hostname.replace(/\.+$/, "");
  if (trimmed !== url.hostname) url.hostname = trimmed;
  if (trimmed === "" || url.hostname === "") throw invalid("the URL has no host", "give a host such as example.org");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (badPorts.has(port)) throw invalid(`port ${port} belongs to another protocol`, "use a port that serves HTTP");
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return { url, host, port, isAddress: isIP(host) !== 0 };
}

/** What the gate is asked about: scheme, host, port (also the default one) and path; no query, no fragment. */
export function gateResource(parsed: ParsedUrl): string {
  return `${parsed.url.protocol}//${parsed.url.hostname}:${parsed.port}${parsed.url.pathname}`;
}

/** Host and port as they are written in an `allow` entry. */
export function hostAndPort(parsed: ParsedUrl): string {
  return `${parsed.url.hostname}:${parsed.port}`;
}
