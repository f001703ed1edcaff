import { networkInterfaces } from "node:os";
import { type Clock, systemClock, ToolError } from "@toolhaft/core";
import { addressWithin, type Cidr, canonicalAddress, type Judged, judge, parseCidr, parseNat64 } from "./address.ts";
import { classifyName, hostMatches } from "./names.ts";
import type { AddressClass, Answer, CheckedUrl, NetOptions, Rule } from "./types.ts";
import { hostAndPort, type ParsedUrl, parseUrl } from "./url.ts";

/** One entry of `allow` or `deny`. */
interface Place {
  match: { kind: "name"; pattern: string } | { kind: "block"; cidr: Cidr };
  port: number | undefined;
}

export interface AddressPolicy {
  /** Rules on the text of a URL. @throws ToolError `invalid_input`, `denied` */
  check(input: string | URL): ParsedUrl & { literal?: AddressClass };
  /** Rules on the answers of a look-up: one special address refuses them all. @throws ToolError `denied` */
  admit(target: ParsedUrl, answers: readonly Answer[]): readonly Answer[];
  /** Whether `allow` names this host with this port, or with any. */
  opensPort(target: ParsedUrl): boolean;
}

const kinds: Readonly<Record<string, string>> = {
  loopback: "a loopback address",
  private: "a private address",
  linkLocal: "a link-local address",
  metadata: "a cloud's metadata address",
  embedded: "an IPv6 form that hides an IPv4 address",
  multicast: "a multicast address",
  reserved: "a reserved address",
  self: "an address of this machine",
};

/** A refusal names the class, never the resolved address: a page must not learn the network from it. */
export function refusal(rule: Rule, message: string, hint?: string): ToolError {
  return new ToolError("denied", message, { ...(hint === undefined ? {} : { hint }), details: { by: "policy", rule } });
}

function parsePlace(option: string, text: string): Place {
  const found = /^(\[[^\]]+\]|[^/:\s]+)(\/\d{1,3})?(?::(\d{1,5}))?$/.exec(text);
  const host = found?.[1]?.toLowerCase();
  const port = found?.[3] === undefined ? undefined : Number(found[3]);
  const wrong = new TypeError(
    `options.net.${option}: "${text}" is no host, host:port or CIDR block such as "localhost:3000", "*.corp.example", "10.0.0.0/8" or "[fd12::]/16"`,
  );
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) throw wrong;
  if (found?.[2] !== undefined) {
    try {
      return { match: { kind: "block", cidr: parseCidr(host + found[2]) }, port };
    } catch (cause) {
      throw Object.assign(wrong, { cause });
    }
  }
  const address = canonicalAddress(host);
  if (host.startsWith("[") && address === undefined) throw wrong;
  return {
    match: { kind: "name", pattern: address === undefined ? host.replace(/\.+$/, "") : judge(address).canonical },
    port,
  };
}

function names(place: Place, name: string, port: number): boolean {
  return place.match.kind === "name" && portFits(place, port) && hostMatches(place.match.pattern, name);
}

function covers(place: Place, canonical: string, port: number): boolean {
  return place.match.kind === "block" && portFits(place, port) && addressWithin(canonical, place.match.cidr);
}

const portFits = (place: Place, port: number): boolean => place.port === undefined || place.port === port;

function ownAddressesOf(read: () => readonly string[], clock: Clock): () => ReadonlySet<string> {
  let known: { at: number; addresses: ReadonlySet<string> } | undefined;
  return () => {
    const now = clock.now();
    if (known === undefined || now - known.at > 60_000 || now < known.at) {
      known = { at: now, addresses: new Set(read().map((text) => canonicalAddress(text.replace(/%.*$/, "")) ?? text)) };
    }
    return known.addresses;
  };
}

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

/** Compiles the options. @throws TypeError for an entry that cannot be read */
export function createAddressPolicy(options: NetOptions): AddressPolicy {
  const allow = (options.allow ?? []).map((text) => parsePlace("allow", text));
  const deny = (options.deny ?? []).map((text) => parsePlace("deny", text));
  const resolvedRanges = (options.resolvedRanges ?? []).map(parseCidr);
  const nat64 = options.nat64Prefixes === undefined ? undefined : parseNat64(options.nat64Prefixes);
  const own = ownAddressesOf(options.ownAddresses ?? interfaceAddresses, options.clock ?? systemClock);

  function judged(address: string): Judged {
    const found = judge(address, nat64);
    return found.class.public && own().has(found.canonical)
      ? { ...found, class: { public: false, kind: "self", metadata: false } }
      : found;
  }

  function refuseAddress(target: ParsedUrl, found: AddressClass, verb: string): ToolError | undefined {
    if (found.public) return undefined;
    const message = `${target.url.hostname} ${verb} ${kinds[found.kind]}; nothing was sent`;
    const hint = found.metadata ? undefined : `allow it with options.net.allow ["${hostAndPort(target)}"]`;
    return refusal(`address.${found.kind}`, message, hint);
  }

  function check(input: string | URL): ParsedUrl & { literal?: AddressClass } {
    const target = parseUrl(input);
    const { host, port } = target;
    const found = target.isAddress ? judged(host) : undefined;
    const name = found?.canonical ?? host;
    const refused = (place: Place): boolean =>
      names(place, name, port) || (found !== undefined && covers(place, name, port));
    if (deny.some(refused)) throw refusal("option.deny", `${target.url.hostname} is on the list options.net.deny`);
    if (found !== undefined) {
      const literal = found.class;
      if (literal.public || (!literal.metadata && allow.some(refused))) return { ...target, literal };
      throw refuseAddress(target, literal, "is") ?? new TypeError("unreachable: a public literal was refused");
    }
    const kind = classifyName(host);
    if (kind === "metadata")
      throw refusal("address.metadata", `${host} is a name of a cloud's metadata service; nothing was sent`);
    if (kind === "local" && !allow.some((place) => names(place, host, port))) {
      throw refusal(
        "name.local",
        `${host} is a name of the local network; nothing was sent`,
        `allow it with options.net.allow ["${hostAndPort(target)}"]`,
      );
    }
    return target;
  }

  function admit(target: ParsedUrl, answers: readonly Answer[]): readonly Answer[] {
    const { host, port } = target;
    const byName = allow.some((place) => names(place, target.isAddress ? judged(host).canonical : host, port));
    for (const { address } of answers) {
      const found = judged(address);
      if (deny.some((place) => covers(place, found.canonical, port))) {
        throw refusal("option.deny", `${host} resolves into a block on the list options.net.deny`);
      }
      if (found.class.public) continue;
      if (!found.class.metadata) {
        if (byName || allow.some((place) => covers(place, found.canonical, port))) continue;
        if (!target.isAddress && resolvedRanges.some((cidr) => addressWithin(found.canonical, cidr))) continue;
      }
      throw (
        refuseAddress(target, found.class, "resolves to") ?? new TypeError("unreachable: a public answer was refused")
      );
    }
    return answers;
  }

  const opensPort = (target: ParsedUrl): boolean =>
    allow.some((place) => names(place, target.host, target.port) || covers(place, target.host, target.port));

  return { check, admit, opensPort };
}

/** The public shape of a checked URL. */
export function toCheckedUrl({ url, host, port, literal }: ParsedUrl & { literal?: AddressClass }): CheckedUrl {
  return { url, host, port, ...(literal === undefined ? {} : { literal }) };
}
