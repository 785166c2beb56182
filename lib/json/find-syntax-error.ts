import { NotJson } from './parse.ts'
import { skipEnd, skipValue, TooDeep } from './skip.ts'

const excerptLength = 20
// The most that so many characters take in UTF-8, and the rest of one that is cut off.
const excerptBytes = 3 * excerptLength + 3
// Searching this much takes some milliseconds. Other requests wait meanwhile.
const maxDescribedBytes = 1024 * 1024

/**
 * Describes where and why a text is not JSON, unless it is very long, because many messages of JSON.parse have no
 * position. `startByte` is its position in the body.
 */
export function describeSyntaxError(bytes: Buffer, startByte = 0): string {
  const found = bytes.length <= maxDescribedBytes ? findSyntaxError(bytes) : undefined
  if (found?.at === undefined) return 'not valid JSON'
  const { at, reason } = found
  const before = bytes.toString('utf8', Math.max(0, at - excerptBytes), at).slice(-excerptLength)
  return `not valid JSON at byte ${startByte + at}, after ${JSON.stringify(before)}: ${reason}`
}

/** The first syntax error of a text. Undefined for valid JSON, and for a text that is nested too deeply. */
export function findSyntaxError(bytes: Buffer): NotJson | undefined {
  try {
    skipEnd(bytes, skipValue(bytes, 0, 0))
    return undefined
  } catch (error) {
    if (error instanceof NotJson) return error
    if (error instanceof TooDeep) return undefined
    throw error
  }
}
