import { TextDecoder } from "node:util";
import { ToolError } from "@toolhaft/core";
import { checkPayloadText, nameOf, type TextCodec } from "./codec.ts";

/** @throws ToolError `unsupported` for bytes that are not text of one byte per ASCII character */
export function refuseBinary(bytes: Uint8Array, shown: string): void {
  const wide = wideEncoding(bytes);
  if (wide) {
    throw new ToolError("unsupported", `${shown} is encoded in ${wide}, which cannot be read or edited here`, {
      hint: "convert it to UTF-8 first",
    });
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    throw new ToolError("unsupported", `${shown} is binary (NUL at byte ${nul})`, {
      hint: "only text files can be read or edited here",
    });
  }
}

function wideEncoding(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "UTF-32LE" : "UTF-16LE";
  if (a === 0xfe && b === 0xff) return "UTF-16BE";
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? "UTF-32BE" : undefined;
}

/** In these a byte below 0x80 is not always the ASCII character, so lines cannot be cut and replaced as bytes. */
const statefulOrWide = /^(iso-2022-|utf-16|utf-7|hz-|replacement|x-user-defined)/;

/**
 * The codec of an encoding label; `undefined` for UTF-8, which needs none. Decoding is the platform's; encoding needs
 * `iconv-lite`, asked for only when something is to be written.
 *
 * @throws ToolError `unsupported` for an unknown or stateful encoding
 */
export async function codecOf(label: string, shown: string, writing: boolean): Promise<TextCodec | undefined> {
  const decoder = decoderOf(label, shown);
  if (decoder === undefined) return undefined;
  const encoding = decoder.encoding;
  const decode = encoding === "windows-1252" ? decodeWindows1252 : (bytes: Uint8Array) => decoder.decode(bytes);
  if (!writing) {
    return {
      encoding,
      decode,
      encode() {
        throw new ToolError("internal", `${shown} was opened for reading, its ${encoding} cannot be written`);
      },
    };
  }
  const encoder = await encoderOf(encoding, shown);
  return {
    encoding,
    decode,
    encode(text) {
      checkPayloadText(text);
      const bytes = encoder(text);
      if (decode(bytes) !== text) throw unencodable(text, encoding, shown, (part) => decode(encoder(part)) === part);
      return bytes;
    },
  };
}

/** Node 20 takes windows-1252 for ISO 8859-1, which differs in 0x80 to 0x9F. @see https://encoding.spec.whatwg.org/index-windows-1252.txt */
const windows1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

function decodeWindows1252(bytes: Uint8Array): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin1.replace(/[\x80-\x9f]/g, (character) => windows1252.charAt(character.charCodeAt(0) - 0x80));
}

function decoderOf(label: string, shown: string): TextDecoder | undefined {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(label, { ignoreBOM: true });
  } catch (error) {
    throw new ToolError("unsupported", `${shown}: the encoding ${label} is unknown`, {
      hint: "use a label of the WHATWG encoding standard in encodingOf",
      cause: error,
    });
  }
  if (statefulOrWide.test(decoder.encoding)) {
    throw new ToolError("unsupported", `${shown}: ${decoder.encoding} cannot be edited by bytes`, {
      hint: "convert it to UTF-8 first",
    });
  }
  return decoder.encoding === "utf-8" ? undefined : decoder;
}

async function encoderOf(label: string, shown: string): Promise<(text: string) => Uint8Array> {
  const iconv = await import("iconv-lite").then(
    (loaded) => loaded.default,
    (error: unknown) => {
      throw new ToolError("unavailable", `editing ${shown} in ${label} needs the package iconv-lite`, {
        hint: "npm install iconv-lite",
        cause: error,
      });
    },
  );
  if (!iconv.encodingExists(label)) throw new ToolError("unsupported", `${shown}: iconv-lite cannot write ${label}`);
  return (text) => iconv.encode(text, label);
}

function unencodable(text: string, encoding: string, shown: string, survives: (part: string) => boolean): ToolError {
  const character = [...text].find((part) => !survives(part));
  const what = character === undefined ? "this text" : nameOf(character);
  return new ToolError("unsupported", `${shown} is encoded in ${encoding}, which has no place for ${what}`, {
    hint: "write it in other characters, or convert the file to UTF-8 first",
  });
}
