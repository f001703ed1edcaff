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

/** What of a message is shown: parts that were asked for, each cut at its length, secrets named. */
export function shownMessage(message: Message, options: PageOptions): Message {
  const parts = message.parts.flatMap((part) => shownPart(part, options) ?? []);
  return { ...message, parts };
}

function shownPart(part: Part, options: PageOptions): Part | undefined {
  if (part.kind === "thinking" && !options.includeThinking) return undefined;
  if (part.tool === null) return part.text === null ? part : textPart(part, options);
  const { tool } = part;
  if (options.toolFilter !== undefined && !tool.name.toLowerCase().includes(options.toolFilter.toLowerCase()))
    return undefined;
  const input = cut(shownText(tool.input, options.redact), options.maxCharsPerPart);
  const output =
    options.includeToolResults && tool.output !== null
      ? cut(shownText(tool.output, options.redact), options.maxCharsPerPart)
      : undefined;
  return {
    ...part,
    chars: lengthOf(tool.input),
    truncated: part.truncated || input.left > 0 || (output?.left ?? 0) > 0,
    tool: { ...tool, input: input.text, output: output?.text ?? null },
  };
}

function textPart(part: Part, options: PageOptions): Part {
  const shown = cut(shownText(part.text ?? "", options.redact), options.maxCharsPerPart);
  return { ...part, text: shown.text, truncated: part.truncated || shown.left > 0 };
}

/** One long text of a message, from a place on: the part that holds the place, and what follows it. */
export function fromPartOffset(message: Message, offset: number, options: PageOptions): Message {
  let skip = offset;
  const parts: Part[] = [];
  for (const part of message.parts) {
    const text =
      part.tool === null ? part.text : ((options.includeToolResults ? part.tool.output : null) ?? part.tool.input);
    if (text === null) {
      if (skip === 0) parts.push(part);
      continue;
    }
    const length = lengthOf(text);
    if (skip >= length && length > 0) {
      skip -= length;
      continue;
    }
    const rest = dropPoints(text, skip);
    skip = 0;
    if (part.tool === null) parts.push({ ...part, text: rest });
    else if (options.includeToolResults && part.tool.output !== null)
      parts.push({ ...part, tool: { ...part.tool, output: rest } });
    else parts.push({ ...part, tool: { ...part.tool, input: rest } });
  }
  return { ...message, parts };
}

function dropPoints(text: string, points: number): string {
  return text.slice(cut(text, points).text.length);
}

/** Whether a message has a call of the wanted tool. */
export function callsTool(message: Message, filter: string): boolean {
  return message.parts.some(({ tool }) => tool?.name.toLowerCase().includes(filter.toLowerCase()) ?? false);
}
