import { jsonBytes } from '../../../lib/json/bytes.ts'
import { skipSpace, skipValue } from '../../../lib/json/skip.ts'

const { comma, closeBracket } = jsonBytes

/** The texts of the items of a JSON array, which must be valid: one after the other, so that never all are in memory. */
export function* splitItems(bytes: Buffer): Generator<string> {
  for (let at = skipSpace(bytes, 1); bytes[at] !== closeBracket;) {
    const end = skipValue(bytes, at, 0)
    yield bytes.toString('utf8', at, end)
    at = skipSpace(bytes, end)
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1)
  }
}
