/** What is wrong with a file of an asset, and where. */
export interface Problem {
  /** Name of the rule, as `asset_validate` lists it: `yaml_invalid`, `name_format` … */
  rule: string;
  severity: "error" | "warning";
  message: string;
  /** What to do. */
  hint: string;
  /** From 1. */
  line?: number;
  column?: number;
  /** Where in the frontmatter: `["transitions", 0, "when"]`. */
  path?: readonly (string | number)[];
}

/** What a parser makes of a file. A broken one has no value and says why. */
export interface Parsed<T> {
  value?: T;
  problems: Problem[];
}
