import { Element, type ParentNode, Text } from "domhandler";
import { elementsIn, squeeze } from "../dom.ts";

/** Address that links of the page are relative to: `<base>` against the page's own URL. */
export function baseOf(document: ParentNode, url: string): string {
  for (const element of elementsIn(document)) {
    if (element.name === "body") break;
    if (element.name === "base" && element.attribs.href) return resolve(element.attribs.href, url) ?? url;
  }
  return url;
}

/** Absolute form of a link, or undefined where it leads nowhere a reader can go. */
export function resolve(href: string | undefined, base: string): string | undefined {
  const given = href?.trim();
  if (given === undefined || given === "") return undefined;
  if (!URL.canParse(given, base)) return undefined;
  const url = new URL(given, base);
  return /^(?:https?|mailto|tel|ftp|sms):$/.test(url.protocol) ? url.href : undefined;
}

const lazySources = [
  "data-src",
  "data-original",
  "data-lazy-src",
  "data-lazy",
  "data-full-src",
  "data-hi-res-src",
  "data-actualsrc",
  "data-image-src",
  "data-url",
];
const lazySets = ["data-srcset", "data-lazy-srcset", "srcset"];

/** The picture a reader would see: lazily loaded sources first, then the largest sensible one of a set. */
export function imageSource(image: Element, base: string): string | undefined {
  const { attribs } = image;
  for (const name of lazySources) {
    const url = usable(attribs[name], base);
    if (url) return url;
  }
  for (const name of lazySets) {
    const url = bestOfSet(attribs[name], base);
    if (url) return url;
  }
  const own = isPlaceholder(attribs.src) ? undefined : usable(attribs.src, base);
  if (own) return own;
  const picture = image.parent;
  if (picture instanceof Element && picture.name === "picture")
    for (const source of elementsIn(picture)) {
      if (source.name !== "source") continue;
      const url = bestOfSet(source.attribs["data-srcset"] ?? source.attribs.srcset, base);
      if (url) return url;
    }
  return usable(attribs.src, base);
}

function usable(value: string | undefined, base: string): string | undefined {
  if (value === undefined || /^\s*(?:data|blob|javascript|about):/i.test(value)) return undefined;
  const url = resolve(value, base);
  return url?.startsWith("http") ? url : undefined;
}

function isPlaceholder(src: string | undefined): boolean {
  return (
    src !== undefined &&
    /(?:^|\/)(?:blank|spacer|placeholder|transparent|pixel|lazy|loading|1x1)[\w-]*\.(?:gif|png|svg|jpe?g)/i.test(src)
  );
}

/** Largest candidate up to 1,600 pixels wide, else the first. */
function bestOfSet(set: string | undefined, base: string): string | undefined {
  if (!set) return undefined;
  const list: { url: string; width: number }[] = [];
  for (const [, address = "", size = ""] of set.matchAll(
    /\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s+([\d.]+[wx]))?\s*(?:,|$)/g,
  )) {
    const url = usable(address, base);
    if (url) list.push({ url, width: size.endsWith("w") ? Number.parseFloat(size) : 0 });
  }
  const fitting = list.filter(({ width }) => width > 0 && width <= 1_600).sort((a, b) => b.width - a.width);
  return (fitting[0] ?? list[0])?.url;
}

/** A lazy image whose real source only stands in the `<noscript>` behind it takes it over. */
export function adoptNoscriptImages(document: ParentNode): void {
  for (const image of elementsIn(document)) {
    if (image.name !== "img" || lazySources.some((name) => image.attribs[name]) || image.attribs.srcset) continue;
    if (image.attribs.src && !/^\s*data:/i.test(image.attribs.src) && !isPlaceholder(image.attribs.src)) continue;
    let next = image.next;
    while (next instanceof Text && !next.data.trim()) next = next.next;
    if (!(next instanceof Element) || next.name !== "noscript") continue;
    for (const real of elementsIn(next))
      if (real.name === "img" && real.attribs.src) {
        image.attribs["data-src"] = real.attribs.src;
        if (!image.attribs.alt && real.attribs.alt) image.attribs.alt = real.attribs.alt;
        break;
      }
  }
}

/** Alternative text on one line. */
export function alternative(image: Element): string {
  return squeeze(image.attribs.alt ?? image.attribs["aria-label"] ?? "");
}

/** Trackers and spacers. */
export function isTiny(image: Element): boolean {
  const width = Number.parseInt(image.attribs.width ?? "", 10);
  const height = Number.parseInt(image.attribs.height ?? "", 10);
  return width <= 2 || height <= 2;
}

/** Link to a video that a frame shows, if it is one. */
export function videoLink(element: Element, base: string): { url: string; title: string } | undefined {
  const { name, attribs } = element;
  if (name !== "iframe" && name !== "video") return undefined;
  let source = attribs.src ?? attribs["data-src"];
  if (name === "video" && !source)
    for (const each of elementsIn(element)) if (each.name === "source") source ??= each.attribs.src;
  const url = resolve(source, base);
  if (!url?.startsWith("http")) return undefined;
  if (name === "iframe" && !/\/embed\/|player|video/i.test(url)) return undefined;
  return { url, title: squeeze(attribs.title ?? "") || "Video" };
}
