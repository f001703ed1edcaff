/**
 * A name that a host takes: prefix and name where they fit, else their first `max - 9` characters, `_`, and 8 base-36
 * characters of a hash of the whole. Depends on the name alone, never on order.
 *
 * @param max Most characters the host takes, at least 10. @default 64
 */
export function fitName(prefix: string, name: string, max = 64): string {
  const whole = prefix + name;
  return whole.length <= max ? whole : `${whole.slice(0, max - 9)}_${shortHash(whole)}`;
}

function shortHash(text: string): string {
  return hash53(text).toString(36).padStart(8, "0").slice(-8);
}

/** 53 bits from two multiplicative hashes of 32, mixed into each other at the end (the finaliser of MurmurHash3). */
function hash53(text: string): number {
  let low = 0x9e3779b9;
  let high = 0x85ebca6b;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0xc2b2ae35);
    high ^= high >>> 13;
  }
  low = mix(low ^ Math.imul(high, 0x27d4eb2f));
  high = mix(high ^ Math.imul(low, 0x165667b1));
  return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0);
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
