// SDKs send keys of this service where everybody reads them: in the command line of a run's program, and in the inputs of
// traced functions. ART's models have the key of their client as a field.

import { keyLength, mark } from './secret.ts'

const start = Buffer.from(mark)
// Administrators may have chosen a key by hand.
const minLength = 20
const asterisk = 0x2a

/** Replaces API keys in a text by asterisks, as many as there were characters. */
export function maskKeys(text: string): string {
  const bytes = Buffer.from(text)
  maskKeyBytes(bytes)
  return bytes.toString()
}

/** Replaces API keys in bytes, in place. */
export function maskKeyBytes(bytes: Buffer): void {
  for (let at = bytes.indexOf(start); at >= 0;) {
    let end = at + start.length
    while (isAlphanumeric(bytes[end])) end++
    const length = end - at - start.length
    // After an escape such as \n, a key does not begin a word.
    if (length === keyLength || (length >= minLength && !isAlphanumeric(bytes[at - 1]))) bytes.fill(asterisk, at, end)
    at = bytes.indexOf(start, end)
  }
}

function isAlphanumeric(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}
