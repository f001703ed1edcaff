import { ToolError } from "@toolhaft/core";

export function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}

/** @throws ToolError `invalid_input` when a text is blank or has more than `most` code points */
export function checkText(field: string, value: string, most: number, example: string): string {
  if (value.trim() === "") throw invalid(`${field}: it is empty`, `such as ${example}`);
  const length = [...value].length;
  if (length > most) throw invalid(`${field}: ${length} characters; the most is ${most}`, `such as ${example}`);
  return value;
}
