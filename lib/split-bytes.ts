// Digested or written in about a millisecond.
const partBytes = 1024 * 1024

/** Parts of bytes, in the same memory: between two of them others have their turn. */
export function* splitBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}
