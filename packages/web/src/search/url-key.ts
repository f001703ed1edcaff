const tracking =
  /^(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|ref_src|srsltid|spm)$/i;

/** Host without what only tells a mobile or `www` form apart. */
function foldHost(host: string): string {
  return host.replace(/\.+$/, "").replace(/^(?:www\d?|m|mobile|amp)\.(?=[^.]+\.)/, "");
}

function foldPath(path: string): string {
  const plain = path
    .replace(/\/amp\/?$/i, "/")
    .replace(/\.amp(?:\.html)?$/i, ".html")
    .replace(/\/{2,}/g, "/");
  return plain.replace(/\/+$/, "");
}

/** The same page has the same key, however its URL is written. The key is for comparing, not for opening. */
export function urlKey(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  // http and https are one page; the default port of either is none.
  const port = url.port === "" || url.port === "80" || url.port === "443" ? "" : `:${url.port}`;
  const parameters = [...url.searchParams]
    .filter(([name, value]) => !tracking.test(name) && !(name.toLowerCase() === "amp" && /^(?:1|true|)$/.test(value)))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort();
  const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
  return `${foldHost(url.hostname.toLowerCase())}${port}${foldPath(url.pathname)}${query}`;
}

/** The host by which results are counted. */
export function hostKey(text: string): string {
  return URL.canParse(text) ? foldHost(new URL(text).hostname.toLowerCase()) : text;
}
