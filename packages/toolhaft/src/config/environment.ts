import { usageFault } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import type { Config } from "./schema.ts";

const list = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "");
/** A rule may hold commas and blanks: one a line, or `;` between. */
const rules = (text: string) =>
  text
    .split(/[\n;]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== "");

/** Settings by `TOOLHAFT_*`; they stand above both files and below flags. */
export function environmentSettings({ env }: Pick<Io, "env">): Config {
  const text = (name: string) => {
    const value = env[`TOOLHAFT_${name}`];
    return value === undefined || value === "" ? undefined : value;
  };
  const flag = (name: string): boolean | undefined => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return undefined;
    if (["1", "true", "yes", "on"].includes(value)) return true;
    if (["0", "false", "no", "off"].includes(value)) return false;
    throw usageFault(`TOOLHAFT_${name} is true or false, not "${value.slice(0, 40)}"`);
  };
  const read = <T>(value: string | undefined, parse: (text: string) => T) =>
    value === undefined ? undefined : parse(value);
  return present({
    families: read(text("FAMILIES"), list),
    tools: read(text("TOOLS"), list),
    without: read(text("WITHOUT"), list),
    allow: read(text("ALLOW"), rules),
    ask: read(text("ASK"), rules),
    deny: read(text("DENY"), rules),
    readOnly: flag("READ_ONLY"),
    lazy: flag("LAZY"),
    structured: flag("STRUCTURED"),
    directory: text("DIRECTORY"),
  });
}

function present(settings: { [K in keyof Config]: Config[K] | undefined }): Config {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
