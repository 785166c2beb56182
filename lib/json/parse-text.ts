import { describeSyntaxError } from './find-syntax-error.ts'
import { JsonError, NotJson } from './parse.ts'
import { parsePlain } from './value.ts'

/** The last escape of a key: the escaped character, other characters, the end of the text and a colon. */
const escapeInKey = /\\.[^"\\]*"\s*:/s

/**
 * Whether JSON.parse may read a wrong key in a valid text. V8 13 and 14 compare the escapes of a key, instead of what they
 * mean, with a key that an earlier text had in this place (nodejs/node#63785). So whoever sends the earlier text
 * could hide a member of the later one.
 */
function hasEscapedKey(text: string): boolean {
  return escapeInKey.test(text)
}

/**
 * @throws {JsonError} for a text that is not JSON, with the position of the error. `startByte` is where the text begins
 */
export function parseText(text: string, startByte = 0): unknown {
  try {
    return hasEscapedKey(text) ? parsePlain(text) : JSON.parse(text)
  } catch (cause) {
    if (cause instanceof JsonError && !(cause instanceof NotJson)) throw cause
    throw new JsonError(describeSyntaxError(Buffer.from(text), startByte), { cause })
  }
}
