import { Element } from "domhandler";
import { isText, squeeze, textContent } from "./dom.ts";
import { isRecord } from "./harvest.ts";
import { type First, recordText, unescapeEntities } from "./main-record.ts";

export function authorOf(
  elements: readonly Element[],
  first: First,
  main: Record<string, unknown> | undefined,
  site: string | undefined,
): string | undefined {
  const fromData = namesOf(main?.author ?? main?.creator);
  if (fromData) return fromData;
  const meta = first(
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
    "twitter:data1",
  );
  if (meta && isName(meta) && meta !== site) return cleanName(meta);
  for (const element of elements) {
    const { attribs } = element;
    const marked =
      attribs.rel?.split(/\s+/).includes("author") || /(?:^|\s)author(?:\s|$)/.test(attribs.itemprop ?? "");
    const byClass =
      /(?:^|[\s_-])(?:byline|author(?:-?name)?|post-author|entry-author|p-author|vcard)(?:$|[\s_-])/i.test(
        attribs.class ?? "",
      );
    if (!marked && !byClass) continue;
    const name = cleanName(squeeze(textContent(element)));
    if (name !== site && isName(name)) return name;
  }
  for (const element of elements) {
    if (
      !/^(?:p|div|span|address|li)$/.test(element.name) ||
      !element.children.every((child) => isText(child) || (child instanceof Element && child.name === "a"))
    )
      continue;
    const line = squeeze(textContent(element));
    const named =
      /^(?:by|written by|posted by|author:)\s+((?:\p{Lu}[\p{L}'’.-]+)(?:\s+\p{Lu}[\p{L}'’.-]*){1,3})(?:$|\s*[|,·•])/u.exec(
        line,
      )?.[1];
    if (named && line.length < 120) return named;
  }
  return undefined;
}

function namesOf(value: unknown): string | undefined {
  const list = Array.isArray(value) ? value : [value];
  const names = list
    .map((each) => (typeof each === "string" ? each : isRecord(each) ? recordText(each, "name") : undefined))
    .filter((name): name is string => name !== undefined)
    .map((name) => cleanName(unescapeEntities(name)))
    .filter(isName);
  return names.length === 0 ? undefined : [...new Set(names)].slice(0, 6).join(", ");
}

function cleanName(value: string): string {
  return value
    .replace(/^(?:by|written by|posted by|author|von|par|por|di|door)[:\s]+/i, "")
    .replace(
      /\s*(?:[|•·].*|,?\s*(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d|\d{1,2}[./]|(?:19|20)\d\d).*)$/i,
      "",
    )
    .trim();
}

function isName(value: string): boolean {
  return (
    value.length > 1 && value.length < 80 && !/^https?:|@|^\d+$|[{}<>]/.test(value) && value.split(/\s+/).length <= 10
  );
}
