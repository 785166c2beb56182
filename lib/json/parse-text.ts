import { jsonBytes } from './bytes.ts'
import { describeSyntaxError } from './find-syntax-error.ts'
import { JsonError, NotJson } from './parse.ts'
import { parsePlain } from './value.ts'

const { backslash } = jsonBytes
const colon = /\s*:/y

/**
 * Whether JSON.parse may read a wrong key in a valid text. V8 13 and 14 compare the escapes of a key, instead of what they
 * mean, with a key that an earlier text had in this place (nodejs/node#63785). So whoever sends the earlier text
 * could hide a member of the later one.
 */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    const end = findTextEnd(text, at + 2)
    if (end < 0) return false
    at = end + 1
    colon.lastIndex = at
    if (colon.test(text)) return true
  }
  return false
}

/** The position of the quote that ends a text; -1 if there is none. It searches natively: escapes are frequent in chats. */
function findTextEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at
    while (first > start && text.charCodeAt(first - 1) === backslash) first--
    if ((at - first) % 2 === 0) return at
  }
  return -1
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
