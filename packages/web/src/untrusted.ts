import { randomBytes } from "node:crypto";
import { findInvisible } from "@toolhaft/core";
import type { WebNote } from "./types.ts";

/** 64 random bits in hexadecimal: a page cannot forge a boundary that it cannot know. */
export function createBoundary(): string {
  return randomBytes(8).toString("hex");
}

const boundaryLine = /^([ \t]*)(?=-{2,}[ \t]*(?:untrusted web content|end)\b.*$)/gim;

/** Lines that look like a boundary get a backslash, whatever number they carry. */
export function escapeBoundaries(text: string): string {
  return text.replace(boundaryLine, "$1\\");
}

/** Everything a site wrote, between two lines that only this call knows. */
export function withinBoundary(boundary: string, text: string): string {
  const end = text === "" || text.endsWith("\n") ? "" : "\n";
  return `--- untrusted web content ${boundary} ---\n${text}${end}--- end ${boundary} ---`;
}

/** The text without characters that a reader cannot see, and how many they were. Joiners of emoji and scripts stay. */
export function removeInvisible(text: string): { text: string; removed: number } {
  const unified = text.replace(/\r\n?/g, "\n").replace(/[\u2028\u2029]/g, "\n");
  const found = findInvisible(unified);
  if (found.length === 0) return { text: unified, removed: 0 };
  let clean = "";
  let at = 0;
  for (const { start, end } of found) {
    clean += unified.slice(at, start);
    at = end;
  }
  return { text: clean + unified.slice(at), removed: found.length };
}

/** A site's text made safe to show: without invisible characters, with boundary lines escaped. */
export function cleanForeign(text: string): { text: string; notes: readonly WebNote[] } {
  const { text: visible, removed } = removeInvisible(text);
  const notes =
    removed === 0 ? [] : [{ code: "invisible_removed", message: `${removed} invisible characters were removed` }];
  return { text: escapeBoundaries(visible), notes };
}

const lineLength = 300;

/** A site's words on one line of at most 300 characters. */
export function oneLine(text: string, max = lineLength): string {
  const flat = removeInvisible(text).text.replace(/\s+/g, " ").trim();
  return flat.length <= max ? flat : `${cutAt(flat, max - 1)}…`;
}

/** At most `length` units, never half of a character. */
export function cutAt(text: string, length: number): string {
  return text.slice(0, snapBack(text, length));
}

/** The offset itself, or one less when it lies inside a surrogate pair. */
export function snapBack(text: string, offset: number): number {
  return insidePair(text, offset) ? offset - 1 : offset;
}

/** The offset itself, or one more when it lies inside a surrogate pair. */
export function snapForward(text: string, offset: number): number {
  return insidePair(text, offset) ? offset + 1 : offset;
}

function insidePair(text: string, offset: number): boolean {
  const before = text.charCodeAt(offset - 1);
  const after = text.charCodeAt(offset);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
