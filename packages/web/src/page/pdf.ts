import { PageError } from "./page-error.ts";
import type { PageMetadata, PageNote } from "./types.ts";

type Pdf = Awaited<ReturnType<typeof import("unpdf")["getDocumentProxy"]>>;

const mostPages = 500;

export interface PdfText {
  text: string;
  metadata: PageMetadata;
  notes: PageNote[];
}

/** Text of a PDF, each page under a line `[page N]`. Throws `unsupported` where there is none to read. */
export async function readPdf(bytes: Uint8Array): Promise<PdfText> {
  const { getDocumentProxy } = await import("unpdf");
  let pdf: Pdf;
  try {
    // pdfjs takes the buffer away from its owner, so it gets a copy.
    pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    if (name === "PasswordException")
      throw new PageError("unsupported", "the PDF is encrypted and needs a password", "download_file");
    throw new PageError(
      "unsupported",
      `the PDF cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      "download_file",
    );
  }
  try {
    const parts: string[] = [];
    let letters = 0;
    const last = Math.min(pdf.numPages, mostPages);
    for (let number = 1; number <= last; number += 1) {
      const page = await pdf.getPage(number);
      const text = pageLines((await page.getTextContent()).items).trim();
      letters += text.length;
      parts.push(`[page ${number}]\n${text}`);
      page.cleanup();
    }
    if (letters === 0)
      throw new PageError("unsupported", "the PDF has no text layer (it is a scan or a drawing)", "download_file");
    const notes: PageNote[] =
      pdf.numPages > last ? [{ code: "cut", message: `the first ${last} of ${pdf.numPages} pages` }] : [];
    return { text: parts.join("\n\n"), metadata: await metadataOf(pdf), notes };
  } finally {
    await pdf.destroy();
  }
}

interface TextPiece {
  str: string;
  hasEOL?: boolean;
  transform?: readonly number[];
  height?: number;
}

/** Lines as they stand on the page; a wide step down starts a paragraph. */
function pageLines(items: readonly unknown[]): string {
  let text = "";
  let lastY: number | undefined;
  for (const item of items) {
    if (!isPiece(item)) continue;
    const y = item.transform?.[5];
    const height = item.height || 10;
    if (item.str !== "" && y !== undefined && lastY !== undefined && text !== "") {
      const step = Math.abs(lastY - y);
      if (step > height * 1.9 && text.endsWith("\n") && !text.endsWith("\n\n")) text += "\n";
      else if (step > height * 0.5 && !text.endsWith("\n")) text += "\n";
    }
    text += item.str;
    if (item.str.trim() !== "" && y !== undefined) lastY = y;
    if (item.hasEOL && !text.endsWith("\n")) text += "\n";
  }
  return text.replace(/[ \t]+\n/g, "\n").replace(/(\p{Ll})-\n(\p{Ll})/gu, "$1$2");
}

function isPiece(item: unknown): item is TextPiece {
  return typeof item === "object" && item !== null && "str" in item && typeof item.str === "string";
}

async function metadataOf(pdf: Pdf): Promise<PageMetadata> {
  const { info } = await pdf.getMetadata();
  const result: PageMetadata = {};
  const take = (key: string): string | undefined => {
    const value: unknown = Reflect.get(info, key);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const title = take("Title");
  if (title) result.title = title;
  const author = take("Author");
  if (author) result.author = author;
  const published = pdfDate(take("CreationDate"));
  if (published) result.published = published;
  const modified = pdfDate(take("ModDate"));
  if (modified) result.modified = modified;
  const language = take("Language");
  if (language) result.language = language;
  return result;
}

/** `D:20240131120000+01'00'` as ISO 8601. */
function pdfDate(value: string | undefined): string | undefined {
  const found = /^D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)(?:Z|([+-]\d\d)'?(\d\d)?)?)?/.exec(value ?? "");
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second, zone, zoneMinute] = found;
  const date = `${year}-${month}-${day}`;
  if (!hour) return date;
  return `${date}T${hour}:${minute}:${second}${zone ? `${zone}:${zoneMinute ?? "00"}` : value?.includes("Z") ? "Z" : ""}`;
}
