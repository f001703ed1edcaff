const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A new id: 26 characters of Crockford's base 32, 10 of them the time, 16 random (80 bits). Sorts by time to the
 * millisecond.
 *
 * @param now Milliseconds since the Unix epoch, 0 to 2^48 - 1.
 * @throws RangeError when `now` is outside that range.
 * @see https://github.com/ulid/spec
 */
export function createId(now: number = Date.now()): string {
  if (!(now >= 0 && now <= 0xffff_ffff_ffff)) throw new RangeError(`createId: ${now} is no time in milliseconds`);
  const high = Math.floor(now / 0x4000_0000);
  const low = Math.floor(now) % 0x4000_0000;
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return group(high, 4) + group(low, 6) + five(bytes, 0) + five(bytes, 5);
}

/** The lowest `count` base-32 digits of an integer below 2^30. */
function group(value: number, count: number): string {
  let text = "";
  for (let shift = (count - 1) * 5; shift >= 0; shift -= 5) text += alphabet.charAt((value >>> shift) & 31);
  return text;
}

/** Five bytes as eight base-32 digits. */
function five(bytes: Uint8Array, at: number): string {
  const byte = (index: number): number => bytes[at + index] ?? 0;
  const high = (byte(0) << 12) | (byte(1) << 4) | (byte(2) >>> 4);
  const low = ((byte(2) & 15) << 16) | (byte(3) << 8) | byte(4);
  return group(high, 4) + group(low, 4);
}
