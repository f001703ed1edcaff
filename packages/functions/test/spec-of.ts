import { parseFunction } from "@toolhaft/asset-format";
import type { FunctionSpec } from "../src/index.ts";

/** A function out of frontmatter lines. */
export function specOf(id: string, lines: string): FunctionSpec {
  const name = id.slice(id.lastIndexOf("/") + 1);
  const { value, problems } = parseFunction(`---\ndescription: d\n${lines}\n---\nDo ${name}.`, `${name}.md`);
  if (!value) throw new Error(JSON.stringify(problems));
  const role = id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null;
  return { ...value, id, role, problems: [] };
}
