const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const maxBytes = 120;

/** The name that a server proposes, from RFC 6266's `filename*` or `filename`. */
function proposed(disposition: string | undefined): string | undefined {
  if (disposition === undefined) return undefined;
  const extended = /(?:^|;)\s*filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'([^;]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decodeLoosely(extended.trim());
  const plain = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]+))/i.exec(disposition);
  return plain === null ? undefined : (plain[1]?.replace(/\\(.)/g, "$1") ?? plain[2]?.trim());
}

function decodeLoosely(text: string): string {
  const bytes = text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), (hex) => Number.parseInt(hex, 16))),
  );
  return bytes;
}

/** At most 120 bytes with the extension kept. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const extension = /\.[A-Za-z0-9.]{1,16}$/.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > maxBytes) stem = [...stem].slice(0, -1).join("");
  return stem + extension;
}

/** A name that is safe to create: the last segment, no leading dot, no control character, no reserved name. */
export function cleanFileName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, "").replace(/^[.\s]+|[.\s]+$/g, "");
  const safe = reserved.test(plain) ? `_${plain}` : plain;
  return safe === "" ? "download" : shorten(safe);
}

/** The name of a download into a folder. */
export function downloadName(disposition: string | undefined, url: string): string {
  const fromUrl = decodeLoosely(new URL(url).pathname.split("/").at(-1) ?? "");
  return cleanFileName(proposed(disposition) ?? fromUrl);
}
