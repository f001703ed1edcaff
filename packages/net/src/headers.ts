import { ToolError } from "@toolhaft/core";

const maxHeaders = 64;
const maxHeaderBytes = 8 * 1024;

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that steer the connection or that a cloud's metadata service takes for consent. */
const refusedNames: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "accept-encoding",
  "metadata",
  "metadata-flavor",
  "x-google-metadata-request",
]);
const refusedPrefixes: readonly string[] = ["proxy-", "sec-", "x-aws-ec2-metadata-"];

/** What still goes to another origin: nothing in these three tells who the caller is. */
const crossOriginNames: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}

function hasForbiddenCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    if (unit === 0 || unit === 10 || unit === 13 || unit > 0xff) return true;
  }
  return false;
}

/**
 * Checks the caller's headers and gives them with names in lower case. An error names the header and never repeats its value.
 *
 * @throws ToolError `invalid_input`
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const entries = Object.entries(headers);
  const checked = new Map<string, string>();
  if (entries.length > maxHeaders) {
    throw invalid(`${entries.length} headers were given`, `send at most ${maxHeaders}`);
  }
  let bytes = 0;
  for (const [name, value] of entries) {
    const shown = JSON.stringify(name.slice(0, 64));
    if (!tokenPattern.test(name)) throw invalid(`${shown} is no header name`, "use letters, digits and hyphens");
    const lower = name.toLowerCase();
    if (refusedNames.has(lower) || refusedPrefixes.some((prefix) => lower.startsWith(prefix))) {
      throw invalid(`the header ${shown} cannot be set`, "leave it out; the client sets what the connection needs");
    }
    if (checked.has(lower)) throw invalid(`the header ${shown} is given twice`, "give each header once");
    if (typeof value !== "string") throw invalid(`the value of ${shown} is no string`, "give header values as strings");
    if (hasForbiddenCharacter(value)) {
      throw invalid(
        `the value of ${shown} holds a line break, NUL or a character above U+00FF`,
        "encode the value, for example with percent-encoding",
      );
    }
    bytes += name.length + value.length + 4;
    if (bytes > maxHeaderBytes)
      throw invalid("the headers are too long", `keep them under ${maxHeaderBytes} bytes in all`);
    checked.set(lower, value.trim());
  }
  return checked;
}

/** Methods a caller may use. @throws ToolError `invalid_input` for CONNECT, TRACE and what is no token */
export function checkMethod(method: string): string {
  const upper = method.toUpperCase();
  if (tokenPattern.test(method) && !["CONNECT", "TRACE", "TRACK"].includes(upper)) return upper;
  throw invalid(
    `the method ${JSON.stringify(method.slice(0, 16))} cannot be used`,
    "use GET, HEAD, POST, PUT, PATCH or DELETE",
  );
}

/** The caller's headers once a chain has left its origin: it never gets them back. */
export function afterLatch(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => crossOriginNames.has(name)));
}

/** A response's headers by lower-case name. */
export function responseHeaders(
  raw: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(raw)) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    headers.set(lower, Array.isArray(value) ? value.join(lower === "set-cookie" ? "\n" : ", ") : value);
  }
  return headers;
}
