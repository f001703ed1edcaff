/** Little-endian float32, whatever the machine. */
export function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true);
  return bytes;
}

export function fromBytes(bytes: Uint8Array): Float32Array {
  const vector = new Float32Array(bytes.byteLength / 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < vector.length; index++) vector[index] = view.getFloat32(index * 4, true);
  return vector;
}

/** −1 to 1; 0 when either has no length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let index = 0; index < a.length; index++) {
    const x = a[index] ?? 0;
    const y = b[index] ?? 0;
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return lengthA > 0 && lengthB > 0 ? dot / Math.sqrt(lengthA * lengthB) : 0;
}

/** One bit per dimension: whether it is positive. */
export function signBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(vector.length / 8));
  for (const [index, value] of vector.entries()) {
    if (value > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return bits;
}

export function hammingDistance(a: Uint8Array, b: Uint8Array): number {
  let distance = 0;
  for (const [index, byte] of a.entries()) {
    let difference = byte ^ (b[index] ?? 0);
    while (difference !== 0) {
      difference &= difference - 1;
      distance++;
    }
  }
  return distance;
}
