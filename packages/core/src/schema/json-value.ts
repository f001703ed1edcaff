/** Deeper than this is no value a tool exchanges; keeps recursion and time bounded. */
export const maxDepth = 100;

/** Where and why a value is not plain JSON. */
export interface ValueFault {
  path: readonly (string | number)[];
  problem: string;
}

/**
 * The first place where a value is not plain JSON: a function, symbol, bigint, NaN, class instance, promise, cycle, or
 * deeper than 100. `undefined` as the value of a property counts as absent.
 */
export function findNonJson(value: unknown, path: readonly (string | number)[] = []): ValueFault | undefined {
  return visit(value, path, []);
}

function visit(value: unknown, path: readonly (string | number)[], open: readonly object[]): ValueFault | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, problem: `${value} is no JSON number` };
    case "object":
      break;
    default:
      return { path, problem: `a ${typeof value} is no JSON value` };
  }
  if (value === null) return undefined;
  if (open.includes(value)) return { path, problem: "the value contains itself" };
  if (open.length >= maxDepth)
    return { path: path.slice(0, 8), problem: `the value is nested more than ${maxDepth} deep` };
  const inside = [...open, value];
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault = visit(value[index], [...path, index], inside);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isPlainObject(value)) return { path, problem: `a ${className(value)} is no plain object` };
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const fault = visit(inner, [...path, key], inside);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** An object literal of any realm, or one without a prototype. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function className(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : "class instance";
}
