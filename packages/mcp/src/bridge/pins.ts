import { createHash } from "node:crypto";
import { canonical } from "../canonical.ts";
import type { RemoteTool } from "./schema.ts";

/** SHA-256 of what a model is told of a tool: name, description, schema. */
export function pinOf({ name, description = "", inputSchema }: RemoteTool): string {
  return createHash("sha256").update(canonical({ name, description, inputSchema })).digest("hex");
}
