import type { Document } from "domhandler";
import { elementsIn, squeeze, textContent } from "./dom.ts";
import type { PageClues } from "./features.ts";

const typeClues: readonly (readonly [string, RegExp])[] = [
  ["ldArticle", /^(?:news|blog|tech|scholarly|report|opinion|analysis|review)*(?:article|posting)$|^recipe$/i],
  ["ldProduct", /^product(?:group|model)?$|^offer$|^individualproduct$/i],
  ["ldList", /^itemlist$|^offercatalog$/i],
  ["ldCollection", /^collectionpage$|^searchresultspage$/i],
  ["ldForum", /^discussionforumposting$|^qapage$|^question$|^comment$/i],
  ["ldService", /^service$|^professionalservice$|^localbusiness$|^softwareapplication$|^faqpage$|^webapplication$/i],
  ["ldOrganization", /^organization$|^corporation$|business$/i],
];

const urlClues: readonly (readonly [string, RegExp])[] = [
  ["urlDate", /\/(?:19|20)\d\d[/-]\d\d?/],
  ["urlArticle", /\/(?:blog|news|article|articles|story|stories|post|posts|magazine|press|insights|opinion)s?\//],
  ["urlProduct", /\/(?:p|product|products|item|itm|dp|pdp|ip|prod)\/|\/pdp\b|\/p\/?$/],
  [
    "urlCollection",
    /\/(?:c|cat|category|categories|collections?|shop|store|browse|department|departments|b)\/|\/shop\/?$/,
  ],
  [
    "urlListing",
    /\/(?:search|list|topics?|directory|jobs|courses?|events?|listing|listings|rankings?|top|explore|results)(?:\/|\?|$)/,
  ],
  [
    "urlForum",
    /\/(?:t|thread|threads|topic|showthread|viewtopic|forum|forums|questions|discussion|discussions|comments|community|d|r)\b|viewtopic|showthread/,
  ],
  [
    "urlDocs",
    /\/(?:docs?|documentation|guide|guides|reference|api|manual|tutorials?|learn|wiki|help|kb|handbook|en\/latest|en\/stable)(?:\/|$)/,
  ],
  [
    "urlService",
    /\/(?:services?|solutions|features|pricing|platform|product|products|about|company|industries|use-cases)(?:\/|$)/,
  ],
  ["hostDocs", /^[a-z]+:\/\/(?:docs?|developers?|help|support|api|wiki|learn|dev)\./],
  ["hostForum", /^[a-z]+:\/\/(?:forums?|community|discuss|boards?|answers|users|discourse)\./],
  ["hostShop", /^[a-z]+:\/\/(?:shop|store)\./],
];

/** Evidence about the page that is not in its visible text. */
export function findClues(document: Document, url: string): PageClues {
  let title = "";
  let description = "";
  let heading = "";
  let ogType = "";
  let generator = "";
  const dataTexts: string[] = [];
  const types = new Map<string, number>();
  const counts = {
    h1: 0,
    h2: 0,
    p: 0,
    pre: 0,
    article: 0,
    main: 0,
    form: 0,
    img: 0,
    time: 0,
    table: 0,
    code: 0,
    textarea: 0,
  };
  for (const element of elementsIn(document)) {
    const { name, attribs } = element;
    if (name in counts) counts[name as keyof typeof counts] += 1;
    if (name === "title" && !title) title = squeeze(textContent(element));
    else if (name === "h1" && !heading) heading = squeeze(textContent(element));
    else if (name === "meta") {
      const key = (attribs.property ?? attribs.name ?? "").toLowerCase();
      const value = attribs.content ?? "";
      if (key === "og:type") ogType = value.toLowerCase();
      else if (key === "og:title" && value) title = value;
      else if (key === "description" || (key === "og:description" && !description)) description = value;
      else if (key === "generator") generator = value.toLowerCase();
    } else if (name === "script" && attribs.type?.includes("ld+json")) {
      const source = textContent(element);
      for (const [, type = ""] of source.matchAll(/"@type"\s*:\s*\[?\s*"([^"]{1,60})"/g))
        types.set(type, (types.get(type) ?? 0) + 1);
      for (const [, value = ""] of source.matchAll(
        /"(?:articleBody|description|text|reviewBody)"\s*:\s*"((?:[^"\\]|\\.){80,100000})"/g,
      ))
        dataTexts.push(unescapeJson(value));
    }
    if (attribs.itemtype) {
      const type = attribs.itemtype.replace(/^.*\//, "");
      types.set(type, (types.get(type) ?? 0) + 1);
    }
  }
  const clues: Record<string, number> = {};
  for (const [name, pattern] of typeClues) {
    let count = 0;
    for (const [type, times] of types) if (pattern.test(type)) count += times;
    clues[name] = Math.min(6, count);
  }
  const address = url.toLowerCase();
  for (const [name, pattern] of urlClues) clues[name] = pattern.test(address) ? 1 : 0;
  const path = URL.canParse(url) ? new URL(url).pathname : "/";
  clues.urlDepth = path.split("/").filter(Boolean).length;
  clues.urlDashes = Math.min(12, (path.split("/").filter(Boolean).pop() ?? "").split("-").length - 1);
  clues.urlDigits = /\d{5,}/.test(path) ? 1 : 0;
  clues.ogArticle = ogType === "article" ? 1 : 0;
  clues.ogProduct = ogType.includes("product") ? 1 : 0;
  clues.ogWebsite = ogType === "website" ? 1 : 0;
  clues.docGenerator =
    /sphinx|mkdocs|docusaurus|vitepress|hugo|gitbook|jekyll|antora|starlight|mdbook|javadoc|doxygen/.test(generator)
      ? 1
      : 0;
  clues.forumGenerator = /discourse|xenforo|vbulletin|phpbb|mybb|flarum|vanilla|invision|nodebb|smf/.test(generator)
    ? 1
    : 0;
  for (const [name, count] of Object.entries(counts)) clues[`n.${name}`] = Math.log1p(count);
  return {
    url,
    title: heading && jaccardLoose(heading, title) ? heading : title || heading,
    description,
    dataText: squeeze(dataTexts.join(" ")).toLowerCase(),
    clues,
  };
}

function jaccardLoose(heading: string, title: string): boolean {
  const lower = title.toLowerCase();
  return (
    lower.includes(heading.toLowerCase()) ||
    heading
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => lower.includes(word)).length > 3
  );
}

function unescapeJson(value: string): string {
  return value
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(.)/g, "$1")
    .replace(/<[^>]{0,200}>/g, " ")
    .replace(/&nbsp;/g, " ");
}
