// Hashing or writing this much takes about a millisecond.
const partBytes = 1024 * 1024

/** Splits bytes into parts of the same memory, so that other work can run between two parts. */
export function* splitBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}
