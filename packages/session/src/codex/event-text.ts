import type { Content } from "../facts.ts";
import { isObject, type JsonRecord } from "../json-line.ts";
import { list, text } from "../shapes.ts";

export function userContent(event: JsonRecord): Content[] {
  const said = text(event.message) ?? "";
  const images = [...list(event.images), ...list(event.local_images)].map(
    (image): Content => ({
      kind: "file",
      name: typeof image === "string" && !image.startsWith("data:") ? image : null,
      mime: "image/*",
      bytes: 0,
    }),
  );
  return [...textContent(said), ...images];
}

export function textContent(said: string): Content[] {
  return said === "" ? [] : [{ kind: "text", text: said }];
}

export function abortText(event: JsonRecord): string {
  return `Turn aborted: ${text(event.reason) ?? "unknown"}`;
}

/** The patch of an `apply_patch` call: the input itself, or a field of its JSON. */
export function patchText(input: string): string {
  const object = parsedObject(input);
  return text(object.input) ?? text(object.patch) ?? input;
}

export function parsedObject(json: string): JsonRecord {
  if (!json.startsWith("{")) return {};
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
