import type { Element } from "domhandler";

/**
 * What people call the parts of their pages. A part is known by words in `class`, `id`, `role` and a few other
 * attributes; `stems` also match inside longer words ("sidebarLeft", "articlebody").
 */
const groups = {
  nav: {
    words: "nav navigation navbar menu menubar submenu topnav subnav navs gnb lnb",
    stems: "navigation navbar megamenu mainmenu",
  },
  header: { words: "header masthead topbar head banner top", stems: "masthead siteheader pageheader" },
  footer: { words: "footer foot bottom colophon contentinfo", stems: "footer" },
  sidebar: {
    words: "sidebar aside rail side secondary complementary right left",
    stems: "sidebar rightcol leftcol rightrail",
  },
  comment: { words: "comment comments commentlist disqus respond replies reply discussion", stems: "comment disqus" },
  share: {
    words: "share sharing social addthis sharedaddy follow facebook twitter socials shares",
    stems: "socialshare sharebar addtoany sharethis",
  },
  related: {
    words:
      "related recommend recommended recommendations recommendation suggested suggestions similar more upsell also popular trending latest recent next readmore crosssell upnext outbrain taboola read",
    stems: "related recommend youmaylike readnext mostread mostpopular",
  },
  ad: {
    words: "ad ads advert advertisement advertising sponsored promo promotion sponsor dfp promos adslot",
    stems: "advert sponsor promobox",
  },
  consent: { words: "cookie cookies consent gdpr privacy onetrust cmp ccpa", stems: "cookie consent gdpr" },
  newsletter: {
    words: "newsletter subscribe subscription signup mailing optin mailchimp hbspt",
    stems: "newsletter subscribe",
  },
  overlay: {
    words: "modal popup overlay dialog drawer offcanvas lightbox popover tooltip flyout dropdown",
    stems: "modal popup offcanvas",
  },
  breadcrumb: { words: "breadcrumb breadcrumbs crumb crumbs", stems: "breadcrumb" },
  pagination: { words: "pagination pager paging paginate pages prev previous", stems: "pagination pager" },
  meta: {
    words: "meta byline author date time timestamp published posted dateline datetime authors info",
    stems: "byline postmeta entrymeta timestamp",
  },
  caption: { words: "caption figcaption credit credits copyright", stems: "caption" },
  tags: { words: "tag tags category categories topics labels taxonomy badge badges chips", stems: "taglist" },
  content: {
    words: "content contents body text copy prose richtext rte markdown wysiwyg contenttext bodytext paragraph",
    stems: "content articlebody richtext bodycopy",
  },
  article: {
    words: "article story news entry blog post single hentry essay articles",
    stems: "article storybody blogpost entrycontent",
  },
  main: { words: "main primary maincontent center central", stems: "maincontent" },
  product: { words: "product products pdp sku item items variant buybox", stems: "product" },
  price: { words: "price prices cost amount money pricing discount sale", stems: "price" },
  review: {
    words: "review reviews rating ratings testimonial testimonials stars feedback",
    stems: "review rating testimonial",
  },
  cards: {
    words:
      "card cards tile tiles grid list lists results result listing listings teaser collection row rows col column feed stream",
    stems: "cardlist productgrid teaser",
  },
  search: {
    words: "search filter filters facet facets sort refine refinement sorting typeahead",
    stems: "filter facet",
  },
  account: {
    words: "login signin account user profile register cart basket wishlist checkout minicart auth",
    stems: "login signin wishlist",
  },
  forum: {
    words:
      "topic thread message messages posts forum postbody question answer answers reply replies postcontent conversation cooked",
    stems: "postbody postcontent messagebody",
  },
  docs: { words: "docs doc documentation reference api guide manual docutils section", stems: "documentation" },
  toc: { words: "toc tableofcontents outline onthispage jump anchors scrollspy", stems: "tableofcontents onthispage" },
  title: { words: "title headline heading headings h1 h2 h3 name", stems: "headline title" },
  summary: {
    words: "summary excerpt description desc lead intro deck standfirst abstract subtitle dek teaser",
    stems: "description excerpt",
  },
  media: {
    words:
      "gallery carousel slider slideshow swiper slick image images media video photo figure player slide thumbnail",
    stems: "carousel gallery slider",
  },
  tabs: {
    words:
      "tab tabs accordion collapse collapsible faq tabpanel details spec specs specification specifications features",
    stems: "accordion collaps tabpanel",
  },
  unseen: {
    words: "sr skip hidden visuallyhidden screenreader offscreen hide invisible noprint",
    stems: "screenreader visuallyhidden srOnly",
  },
  legal: { words: "legal disclaimer terms notice policy disclosure warning alert", stems: "disclaimer" },
  action: {
    words: "button btn buttons cta action actions toolbar tools controls control link links widget",
    stems: "button toolbar",
  },
  bio: { words: "bio biography contributor avatar about signature", stems: "authorbio aboutauthor biography" },
  form: { words: "form contact field fields input captcha label", stems: "contactform" },
  hero: { words: "hero jumbotron splash intro cover", stems: "hero" },
} as const;

export type Hint = keyof typeof groups;
export const hintNames = Object.keys(groups) as Hint[];

const byWord = new Map<string, bigint>();
const stems: [string, bigint][] = [];
hintNames.forEach((name, index) => {
  const bit = 1n << BigInt(index);
  for (const word of groups[name].words.split(" ")) byWord.set(word, (byWord.get(word) ?? 0n) | bit);
  for (const stem of groups[name].stems.split(" ")) stems.push([stem.toLowerCase(), bit]);
});

/** Reads the hints of elements; one reader serves one page and remembers the words it has seen. */
export function hintReader(): (element: Element) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  const words = new Map<string, bigint>();
  const wordMask = (word: string): bigint => {
    const before = words.get(word);
    if (before !== undefined) return before;
    let mask = byWord.get(word) ?? 0n;
    if (mask === 0n && word.length > 5) for (const [stem, bit] of stems) if (word.includes(stem)) mask |= bit;
    words.set(word, mask);
    return mask;
  };
  return ({ attribs }) => {
    const { class: classes, id, role, itemprop } = attribs;
    if (classes === undefined && id === undefined && role === undefined && itemprop === undefined) return none;
    const key = `${classes ?? ""} ${id ?? ""} ${role ?? ""} ${itemprop ?? ""}`;
    const before = known.get(key);
    if (before) return before;
    let mask = 0n;
    for (const token of key.slice(0, 400).split(/\s+/)) {
      const parts = token
        .replace(/([a-z])([A-Z])/g, "$1 $2")
        .toLowerCase()
        .split(/[^a-z0-9]+/);
      for (const part of parts) if (part.length > 1) mask |= wordMask(part);
      if (parts.length > 1) mask |= stemMask(parts.join(""));
    }
    const list: number[] = [];
    for (let index = 0; index < hintNames.length; index += 1) if (mask & (1n << BigInt(index))) list.push(index);
    known.set(key, list);
    return list;
  };
  function stemMask(word: string): bigint {
    const cached = words.get(`+${word}`);
    if (cached !== undefined) return cached;
    let mask = 0n;
    for (const [stem, bit] of stems) if (stem.length > 7 && word.includes(stem)) mask |= bit;
    words.set(`+${word}`, mask);
    return mask;
  }
}

const none: readonly number[] = [];
