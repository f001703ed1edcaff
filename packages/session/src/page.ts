import { showInvisible } from "@toolhaft/core";
import type { Message, Part } from "./model.ts";
import { cut, lengthOf, shownText } from "./show.ts";

export interface PageOptions {
  includeThinking: boolean;
  includeToolResults: boolean;
  /** Only these calls are kept; text stays. */
  toolFilter: string | undefined;
  maxCharsPerPart: number;
  redact: boolean;
}

/** How much of a message is shown. */
export interface Extent {
  /** Code points of its shown texts that are passed over. */
  from: number;
  /** UTF-16 units that the texts may take. */
  room: number;
  /** Whether what follows the first cut is left for the next page, so that pages joined are the whole. */
  endsAtCut: boolean;
}

export interface ShownMessage {
  message: Message;
  /** Where the first cut is, as a place to go on from; null when nothing was cut. */
  next: number | null;
}

/**
 * What of a message is shown: parts that were asked for, secrets named before anything is cut, each text cut at its length
 * and all of them at the room there is. Of a call the input comes first, then the output.
 */
export function shownMessage(message: Message, options: PageOptions, extent: Extent): ShownMessage {
  const reel = new Reel(options, extent);
  const parts = message.parts.flatMap((part) => (isAsked(part, options) ? (reel.part(part) ?? []) : []));
  return { message: { ...message, parts }, next: reel.next };
}

function isAsked(part: Part, { includeThinking, toolFilter }: PageOptions): boolean {
  if (part.kind === "thinking") return includeThinking;
  return part.tool === null || toolFilter === undefined || hasName(part.tool.name, toolFilter);
}

/** The texts of one message, one after the other. */
class Reel {
  next: number | null = null;
  readonly #options: PageOptions;
  readonly #extent: Extent;
  #at = 0;
  #room: number;

  constructor(options: PageOptions, extent: Extent) {
    this.#options = options;
    this.#extent = extent;
    this.#room = extent.room;
  }

  part(part: Part): Part | undefined {
    const begin = this.#at;
    if (part.tool === null && part.text === null) return begin < this.#extent.from || this.#isOver() ? undefined : part;
    if (part.tool === null) {
      const text = this.#text(part.text ?? "");
      return text === undefined ? undefined : { ...part, text: text.shown, truncated: part.truncated || text.isCut };
    }
    const { tool } = part;
    const input = this.#text(tool.input);
    const output =
      this.#options.includeToolResults && tool.output !== null
        ? this.#text(tool.output)
        : { shown: null, isCut: false };
    if (input === undefined && (output === undefined || output.shown === null)) return undefined;
    return {
      ...part,
      chars: lengthOf(tool.input),
      truncated: part.truncated || (input?.isCut ?? false) || (output?.isCut ?? true),
      tool: { ...tool, input: input?.shown ?? "", output: output === undefined ? null : output.shown },
    };
  }

  #isOver(): boolean {
    return this.next !== null && (this.#extent.endsAtCut || this.#room <= 0);
  }

  /** Undefined for a text that lies before the place or after the end. */
  #text(given: string): { shown: string; isCut: boolean } | undefined {
    const text = shownText(given, this.#options.redact);
    const length = lengthOf(text);
    const skipped = Math.max(0, this.#extent.from - this.#at);
    const start = this.#at;
    this.#at += length;
    if (this.#isOver() || (skipped > 0 && skipped >= length)) return undefined;
    const shown = this.#fitting(text.slice(cut(text, skipped).text.length));
    const end = start + skipped + lengthOf(shown);
    const isCut = end < this.#at;
    if (isCut) this.next ??= end;
    return { shown, isCut };
  }

  #fitting(text: string): string {
    let shown = cut(text, this.#options.maxCharsPerPart).text;
    for (let size = sizeOf(shown); size > this.#room && shown !== ""; size = sizeOf(shown))
      shown = cut(shown, Math.floor((lengthOf(shown) * Math.max(0, this.#room)) / size)).text;
    this.#room -= sizeOf(shown);
    return shown;
  }
}

/** UTF-16 units of a text as it is shown. */
export function sizeOf(text: string): number {
  return showInvisible(text).length;
}

function hasName(name: string, filter: string): boolean {
  return name.toLowerCase().includes(filter.toLowerCase());
}

/** Whether a message has a call of the wanted tool. */
export function callsTool(message: Message, filter: string): boolean {
  return message.parts.some(({ tool }) => tool !== null && hasName(tool.name, filter));
}
