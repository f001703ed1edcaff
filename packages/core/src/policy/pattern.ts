/** Whether a value is matched, together with the form of it that wildcards may look at. */
export type Matcher = (value: string) => boolean;

export interface PatternOptions {
  /** Where a relative file pattern starts: absolute, with `/`. */
  directory?: string | undefined;
  /** Compare without case (deny and ask on Windows and macOS). */
  ignoreCase?: boolean | undefined;
}

/** Files: by segment, `*` and `?` inside one, `**` zero or more; a relative pattern starts at the directory. */
export function filePattern(pattern: string, options: PatternOptions): Matcher {
  const wanted = slashes(pattern);
  if (wanted === "*") return () => true;
  const absolute = isAbsolute(wanted) || options.directory === undefined;
  const base = options.directory === undefined ? "" : withoutEnd(slashes(options.directory));
  const below = wanted.replace(/^(?:\.\/)+/, "");
  // "**" stands for the directory itself, too, as "src/**" does for src.
  const source = absolute
    ? segments(wanted)
    : `${literal(base)}${below === "**" ? "(?:/[^]*)?" : `/${segments(below)}`}`;
  const exact = absolute ? wanted : `${base}/${wanted}`;
  return either(exact, new RegExp(`^${source}$`, flags(options)), options);
}

/** All other values: exact, `*`, any run, by dot label, or by segment when the pattern holds `/` or `\`. */
export function stringPattern(pattern: string, options: PatternOptions = {}): Matcher {
  if (pattern === "*") return () => true;
  if (!pattern.includes("*") && !/[/\\].*\?/.test(pattern)) return either(pattern, undefined, options);
  if (/[/\\]/.test(pattern)) {
    const bySegment = new RegExp(`^${segments(slashes(pattern))}$`, flags(options));
    return either(pattern, { test: (value) => bySegment.test(slashes(value)) }, options);
  }
  const anyRun = new RegExp(`^${pattern.split(/\*+/).map(literal).join("[^]*")}$`, flags(options));
  if (!pattern.includes(".")) return either(pattern, anyRun, options);
  const byLabel = new RegExp(`^${labels(pattern)}$`, flags(options));
  return either(pattern, { test: (value) => (value.includes(".") ? byLabel : anyRun).test(value) }, options);
}

/** A host or dotted name by label: `*` is exactly one label (or a run inside one), `**.` one or more. */
export function labelPattern(pattern: string): RegExp {
  return new RegExp(`^${labels(pattern)}$`, "i");
}

/** The path of a URL, by segment. */
export function pathPattern(pattern: string): RegExp {
  return new RegExp(`^${segments(pattern)}$`);
}

/**
 * Why a value may be matched by exact rules and a bare `*` only; `undefined` for an ordinary value.
 * What another program would read in a second way (`..`, NUL, mixed or encoded separators) is never opened by a wildcard.
 */
export function oddness(value: string): string | undefined {
  if (!/[\\\0%]|(?:^|\/)\.\.?(?:\/|$)/.test(value)) return undefined;
  if (value.includes("\0")) return "it holds a NUL character";
  if (/%(?:2f|5c|00|2e%2e|2e\.|\.%2e)/i.test(value)) return "it holds a percent-encoded separator";
  const dotted = /(?:^|[/\\])(\.\.?)(?:[/\\]|$)/.exec(value);
  if (dotted !== null) return `it holds the segment "${dotted[1]}"`;
  if (value.includes("/") && value.includes("\\")) return "it mixes / and \\";
  return undefined;
}

/** What a value with odd segments may mean: what deny and ask rules are also held against. */
export function plainForm(value: string): string {
  const decoded = slashes(value.replace(/\0/g, "")).replace(/%(2e|2f|5c)/gi, (_, code: string) =>
    code === "2e" || code === "2E" ? "." : "/",
  );
  const lead = decoded.startsWith("/") ? "/" : "";
  const kept: string[] = [];
  for (const segment of decoded.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "." && segment !== "") kept.push(segment);
  }
  return lead + kept.join("/");
}

function either(exact: string, wild: { test(value: string): boolean } | undefined, options: PatternOptions): Matcher {
  const wanted = options.ignoreCase ? exact.toLowerCase() : exact;
  const same: Matcher = options.ignoreCase ? (value) => value.toLowerCase() === wanted : (value) => value === wanted;
  return wild === undefined ? same : (value) => wild.test(value) || same(value);
}

function segments(pattern: string): string {
  const parts = pattern.split("/");
  let source = "";
  parts.forEach((part, index) => {
    const last = index === parts.length - 1;
    if (part === "**") {
      // As the last segment it also stands for the folder itself; before others for none or more folders.
      if (last) source = source.endsWith("/") ? `${source.slice(0, -1)}(?:/[^]*)?` : `${source}[^]*`;
      else if (parts[index + 1] !== "**") source += "(?:[^/]+/)*";
      return;
    }
    source += part
      .split(/(\*+|\?)/)
      .map((piece) => (piece.startsWith("*") ? "[^/]*" : piece === "?" ? "[^/]" : literal(piece)))
      .join("");
    if (!last) source += "/";
  });
  return source;
}

function labels(pattern: string): string {
  return pattern
    .split(".")
    .map((label) =>
      label === "**" ? "[^.]+(?:\\.[^.]+)*" : label === "*" ? "[^.]+" : label.split(/\*+/).map(literal).join("[^.]*"),
    )
    .join("\\.");
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function flags(options: PatternOptions): string {
  return options.ignoreCase ? "i" : "";
}

function slashes(text: string): string {
  return text.replace(/\\/g, "/");
}

function withoutEnd(path: string): string {
  return path.replace(/\/+$/, "");
}

function isAbsolute(pattern: string): boolean {
  return pattern.startsWith("/") || /^[A-Za-z]:\//.test(pattern);
}
