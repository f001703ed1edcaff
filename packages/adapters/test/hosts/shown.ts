/** The text and the pictures of what the model was given. */
export function shown(output: { type: string; value?: unknown } | undefined): { text: string; images: string[] } {
  if (typeof output?.value === "string") return { text: output.value, images: [] };
  if (!Array.isArray(output?.value)) return { text: JSON.stringify(output), images: [] };
  const parts: { type: string; text?: string; mediaType?: string }[] = output.value;
  return {
    text: parts.flatMap(({ text }) => text ?? []).join(""),
    images: parts.flatMap(({ mediaType }) => mediaType ?? []),
  };
}
