const byteOrderMark = [0xef, 0xbb, 0xbf]
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A JSON text that is not accepted. The message says why. */
export class JsonError extends Error {
  override name = 'JsonError'
}

/** A text that is not JSON. `skipValue` says where and why; of others, `describeSyntaxError` finds it. */
export class NotJson extends JsonError {
  override name = 'NotJson'
  /** The first byte that JSON does not allow there; the text's length if the end is missing. */
  readonly at: number | undefined
  readonly reason: string | undefined

  constructor(at?: number, reason?: string) {
    super('not valid JSON')
    this.at = at
    this.reason = reason
  }
}

/** The start of a text, after a byte order mark. Some programs write one. */
export function findTextStart(bytes: Uint8Array): number {
  return byteOrderMark.every((byte, index) => bytes[index] === byte) ? byteOrderMark.length : 0
}

/** @throws {JsonError} for bytes that are not UTF-8 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new JsonError('not valid UTF-8', { cause })
  }
}
