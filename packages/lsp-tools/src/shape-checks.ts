/**
 * Looks at a value of the wire and says what is wrong with it, or nothing. What can be mended is mended in place: the
 * value is our own copy, parsed a moment ago.
 */
export type Check = (value: unknown) => string | undefined;

type Fields = Readonly<Record<string, Check>>;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `[3]` and `range` become `[3].range`. */
function below(key: string, fault: string): string {
  return fault.startsWith("[") || fault.startsWith(".") ? `${key}${fault}` : `${key}: ${fault}`;
}

export const anything: Check = () => undefined;
export const text: Check = (value) => (typeof value === "string" ? undefined : "is no text");
export const number: Check = (value) => (typeof value === "number" ? undefined : "is no number");
export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "is neither true nor false");

/** Fields that must be there, and others that are dropped when they are `null` or of a wrong kind. */
export function record(required: Fields, optional: Fields = {}): Check {
  const musts = Object.entries(required);
  const mays = Object.entries(optional);
  return (value) => {
    if (!isRecord(value)) return "is no object";
    for (const [key, check] of musts) {
      const fault = check(value[key]);
      if (fault !== undefined) return below(`.${key}`, fault);
    }
    for (const [key, check] of mays) {
      if (value[key] !== undefined && check(value[key]) !== undefined) delete value[key];
    }
    return undefined;
  };
}

/** Fields that may be absent or `null`, but not of a wrong kind: what would be written must not be half of what was meant. */
export function strictly(optional: Fields): Check {
  const mays = Object.entries(optional);
  return (value) => {
    if (!isRecord(value)) return "is no object";
    for (const [key, check] of mays) {
      if (value[key] === null) delete value[key];
      const fault = value[key] === undefined ? undefined : check(value[key]);
      if (fault !== undefined) return below(`.${key}`, fault);
    }
    return undefined;
  };
}

export function list(item: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return "is no list";
    for (let at = 0; at < value.length; at++) {
      const fault = item(value[at]);
      if (fault !== undefined) return below(`[${at}]`, fault);
    }
    return undefined;
  };
}

/** Every value of an object, whatever its keys. */
export function values(item: Check): Check {
  return (value) => {
    if (!isRecord(value)) return "is no object";
    for (const [key, one] of Object.entries(value)) {
      const fault = item(one);
      if (fault !== undefined) return below(`[${JSON.stringify(key)}]`, fault);
    }
    return undefined;
  };
}

export function both(...checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const fault = check(value);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

/** `null` and nothing at all are answers, too. */
export function orNull(check: Check): Check {
  return (value) => (value === null || value === undefined ? undefined : check(value));
}

/** A text, or what `otherwise` takes. */
export function textOr(otherwise: Check): Check {
  return (value) => (typeof value === "string" ? undefined : otherwise(value));
}
