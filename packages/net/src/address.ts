import ipaddr from "ipaddr.js";
import type { AddressClass, AddressKind } from "./types.ts";

/** An address as the policy sees it: IPv4 inside IPv6 is unwrapped where it is judged as its IPv4. */
export interface Judged {
  class: AddressClass;
  /** Canonical text, for comparing with literals of the options. */
  canonical: string;
}

/** A parsed CIDR block. */
export type Cidr = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** @throws Error when the text is no CIDR block; brackets around the IPv6 part are taken off */
export function parseCidr(text: string): Cidr {
  return ipaddr.parseCIDR(text.replace(/^\[(.*)\]/, "$1"));
}

export const isCidr = (text: string): boolean => ipaddr.isValidCIDR(text);

/** Whether an address lies in a block of the same family. */
export function within(ip: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Cidr): boolean {
  return ip.kind() === network.kind() && ip.match([network, bits]);
}

const blocks = (rows: readonly (readonly [string, AddressKind])[]): readonly (readonly [Cidr, AddressKind])[] =>
  rows.map(([text, kind]) => [parseCidr(text), kind]);

const blocks4 = blocks([
  ["0.0.0.0/8", "reserved"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "linkLocal"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "reserved"],
  ["192.31.196.0/24", "reserved"],
  ["192.52.193.0/24", "reserved"],
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "reserved"],
  ["198.18.0.0/15", "reserved"],
  ["198.51.100.0/24", "reserved"],
  ["203.0.113.0/24", "reserved"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
]);

/** Hosts of clouds that hand out credentials. The last lies in a public range. */
const metadata4 = [
  "169.254.169.0/24",
  "169.254.170.0/24",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
].map(parseCidr);
const metadata6 = ["fd00:ec2::/32", "fd20:ce::254/128"].map(parseCidr);

const blocks6 = blocks([
  ["::1/128", "loopback"],
  ["::/128", "reserved"],
  ["::/96", "embedded"],
  ["::ffff:0:0:0/96", "embedded"],
  ["64:ff9b:1::/48", "embedded"],
  ["2001::/32", "embedded"],
  ["2002::/16", "embedded"],
  ["fc00::/7", "private"],
  ["fe80::/10", "linkLocal"],
  ["fec0::/10", "private"],
  ["ff00::/8", "multicast"],
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "reserved"],
  ["3fff::/20", "reserved"],
]);

/** The canonical text of an address, without brackets; undefined when it is none. */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (bare.includes("%")) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.parse(bare).toString();
  if (!bare.includes(":")) return undefined;
  // The library reads "::8.8.8.8" as "::ffff:8.8.8.8"; URL writes a dotted tail in hexadecimal.
  const v6 =
    bare.includes(".") && URL.canParse(`http://[${bare}]/`) ? new URL(`http://[${bare}]/`).hostname.slice(1, -1) : bare;
  if (!v6.includes(".") && ipaddr.IPv6.isValid(v6)) return ipaddr.parse(v6).toString();
  return undefined;
}

function special(kind: AddressKind, metadata = false): AddressClass {
  return { public: false, kind, metadata };
}

function classify4(ip: ipaddr.IPv4): AddressClass {
  if (metadata4.some((cidr) => within(ip, cidr))) return special("metadata", true);
  const hit = blocks4.find(([cidr]) => within(ip, cidr));
  // All of 169.254/16 stays shut: clouds and container hosts put further services there.
  if (hit !== undefined) return special(hit[1], hit[1] === "linkLocal");
  return ip.range() === "unicast" ? { public: true } : special("reserved");
}

/** Where RFC 6052 puts the four bytes of the IPv4 address, by prefix length. */
const nat64Bytes: Readonly<Record<number, readonly number[]>> = {
  32: [4, 5, 6, 7],
  40: [5, 6, 7, 9],
  48: [6, 7, 9, 10],
  56: [7, 9, 10, 11],
  64: [9, 10, 11, 12],
  96: [12, 13, 14, 15],
};

function ipv4At(bytes: readonly number[], positions: readonly number[], xor = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4(positions.map((position) => (bytes[position] ?? 0) ^ xor));
}

const sixToFour = parseCidr("2002::/16");
const teredo = parseCidr("2001::/32");
const localNat64 = parseCidr("64:ff9b:1::/48");

/** Every IPv4 address that a form refused whole may stand for: it only tells whether metadata hides inside. */
function hidden4(ip: ipaddr.IPv6, bytes: readonly number[]): ipaddr.IPv4[] {
  const tail = ipv4At(bytes, [12, 13, 14, 15]);
  if (within(ip, sixToFour)) return [ipv4At(bytes, [2, 3, 4, 5])];
  if (within(ip, teredo)) return [ipv4At(bytes, [4, 5, 6, 7]), ipv4At(bytes, [12, 13, 14, 15], 0xff)];
  if (within(ip, localNat64)) return [tail, ...Object.values(nat64Bytes).map((at) => ipv4At(bytes, at))];
  return [tail];
}

const isMetadata = (found: AddressClass): boolean => !found.public && found.metadata;

function classify6(ip: ipaddr.IPv6): AddressClass {
  const bytes = ip.toByteArray();
  if (metadata6.some((cidr) => within(ip, cidr))) return special("metadata", true);
  const hit = blocks6.find(([cidr]) => within(ip, cidr));
  if (hit !== undefined) {
    const [, kind] = hit;
    const inside = kind === "embedded" && hidden4(ip, bytes).some((ip4) => isMetadata(classify4(ip4)));
    return special(inside ? "metadata" : kind, inside || kind === "linkLocal");
  }
  if (((bytes[0] ?? 0) & 0xe0) !== 0x20) return special("reserved");
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    // ISATAP (RFC 5214): the interface id names an IPv4 node behind the prefix.
    const inside = classify4(ipv4At(bytes, [12, 13, 14, 15]));
    if (!inside.public) return special(inside.metadata ? "metadata" : "embedded", inside.metadata);
  }
  return ip.range() === "unicast" ? { public: true } : special("reserved");
}

const wellKnownNat64 = parseCidr("64:ff9b::/96");

/** Parses NAT64 prefixes; only the lengths of RFC 6052 have a place for the IPv4 address. */
export function parseNat64(prefixes: readonly string[]): readonly Cidr[] {
  return prefixes.map((text) => {
    const cidr = parseCidr(text);
    if (nat64Bytes[cidr[1]] === undefined)
      throw new TypeError(`NAT64 prefix ${text}: length must be 32, 40, 48, 56, 64 or 96`);
    return cidr;
  });
}

/** Judges an address and says under which text it is compared. */
export function judge(address: string, nat64: readonly Cidr[] = [wellKnownNat64]): Judged {
  const canonical = canonicalAddress(address);
  if (canonical === undefined)
    return { class: special(address.includes("%") ? "linkLocal" : "reserved"), canonical: address };
  const ip = ipaddr.parse(canonical);
  if (ip instanceof ipaddr.IPv4) return { class: classify4(ip), canonical };
  if (ip.isIPv4MappedAddress()) return judge4(ip.toIPv4Address());
  for (const prefix of nat64) {
    const at = nat64Bytes[prefix[1]];
    if (at !== undefined && within(ip, prefix)) return judge4(ipv4At(ip.toByteArray(), at));
  }
  return { class: classify6(ip), canonical };
}

function judge4(ip: ipaddr.IPv4): Judged {
  return { class: classify4(ip), canonical: ip.toString() };
}

/** Whether canonical text of an address lies in a block. */
export function addressWithin(canonical: string, cidr: Cidr): boolean {
  return ipaddr.isValid(canonical) && within(ipaddr.parse(canonical), cidr);
}

/**
 * Says whether an address is an ordinary public one, and if not, why.
 *
 * @param address - IPv4 in four decimal parts, or IPv6 with or without brackets; anything else is `reserved`.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry
 */
export function classify(address: string, options: { nat64Prefixes?: readonly string[] } = {}): AddressClass {
  const { nat64Prefixes } = options;
  return judge(address, nat64Prefixes === undefined ? undefined : parseNat64(nat64Prefixes)).class;
}
