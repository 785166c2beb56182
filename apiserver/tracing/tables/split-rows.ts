import { jsonBytes } from '../../../lib/json/bytes.ts'
import { skipSpace, skipValue } from '../../../lib/json/skip.ts'

const { comma, closeBracket } = jsonBytes

/**
 * Splits a valid JSON array into the texts of its items. It yields them one by one, so that they are never all in
 * memory.
 */
export function* splitItems(bytes: Buffer): Generator<string> {
  for (let at = skipSpace(bytes, 1); bytes[at] !== closeBracket;) {
    const end = skipValue(bytes, at, 0)
    yield bytes.toString('utf8', at, end)
    at = skipSpace(bytes, end)
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1)
  }
}
