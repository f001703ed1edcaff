import { nearest } from "@toolhaft/core";
import { type FrontmatterDocument, scalarText } from "./frontmatter.ts";
import type { Problem } from "./problem.ts";

type Path = readonly (string | number)[];

/** Reads typed values out of a frontmatter and notes what is wrong with them. */
export interface KeyReader {
  readonly problems: Problem[];
  problem(rule: string, path: Path, message: string, hint: string, severity?: Problem["severity"]): void;
  value(path: Path): unknown;
  text(path: Path): string | undefined;
  texts(path: Path): string[];
  integer(path: Path, otherwise: number, least: number): number;
  /** Warns of keys that no reader knows. */
  refuseOthers(known: readonly string[], path?: Path): void;
}

export function readKeys(head: FrontmatterDocument): KeyReader {
  const problems: Problem[] = [...head.problems];
  const reader: KeyReader = {
    problems,
    problem(rule, path, message, hint, severity = "error") {
      problems.push({ rule, severity, message, hint, path, ...head.locate(path) });
    },
    value: (path) =>
      path.reduce<unknown>(
        (value, key) => (isRecord(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined),
        head.data,
      ),
    text(path) {
      const value = reader.value(path);
      if (value === undefined || value === null) return undefined;
      const text = scalarText(head.document, path);
      if (text === undefined) reader.problem("yaml_invalid", path, `${shown(path)} must be text`, "write one value");
      return text;
    },
    texts(path) {
      const value = reader.value(path);
      if (value === undefined || value === null) return [];
      if (!Array.isArray(value)) {
        const one = reader.text(path);
        return one === undefined ? [] : one.split(/[\s,]+/).filter((part) => part !== "");
      }
      return value.flatMap((_, index) => {
        const text = reader.text([...path, index]);
        return text === undefined ? [] : [text];
      });
    },
    integer(path, otherwise, least) {
      const value = reader.value(path);
      if (value === undefined || value === null) return otherwise;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
      reader.problem(
        "yaml_invalid",
        path,
        `${shown(path)} must be a whole number of at least ${least}`,
        `write ${otherwise}`,
      );
      return otherwise;
    },
    refuseOthers(known, path = []) {
      const value = reader.value(path);
      if (!isRecord(value)) return;
      for (const key of Object.keys(value)) {
        if (known.includes(key)) continue;
        const near = nearest(key, known, 1);
        const hint = near.length > 0 ? `did you mean ${near[0]}?` : `known keys: ${known.join(", ")}`;
        reader.problem("unknown_key", [...path, key], `unknown key "${key}"`, hint, "warning");
      }
    },
  };
  return reader;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function shown(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
