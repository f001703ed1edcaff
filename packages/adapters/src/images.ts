import type { Attachment, ToolResult } from "@toolhaft/core";

/** A picture that came with a result, as hosts take it. */
export interface Image {
  mimeType: string;
  base64: string;
}

/** The pictures of a result that hosts can show a model; attachments of other kinds are none. */
export function imagesOf(result: ToolResult): Image[] {
  const attachments: readonly Attachment[] = result.ok ? (result.attachments ?? []) : [];
  return attachments.flatMap(({ mimeType, source }) =>
    mimeType.startsWith("image/") && source.kind === "bytes" ? [{ mimeType, base64: toBase64(source.bytes) }] : [],
  );
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
