import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { unprocessable } from '../../refusal.ts'
import { digestValue } from '../json/digests.ts'
import type { JsonText } from '../json/text.ts'
import { parseValue } from '../json/value.ts'
import { tooLarge } from '../refusals.ts'
import { splitItems } from './split-rows.ts'

// Clients send 1,000 at once. A body has room for ten million empty ones.
const mostRows = 200_000
const rowsAtOnce = 500

/**
 * Digests of rows, in their order; other requests are served meanwhile.
 *
 * @throws {Refusal} 422 for a row that is no object, 413 for more rows than are taken at once
 */
export async function digestRows(rows: JsonText, place: string[]): Promise<string[]> {
  if (rows.first !== '[') throw unprocessable({ loc: place, msg: 'Input should be a valid list', type: 'list_type' })
  const digests: string[] = []
  for (const row of splitItems(rows.bytes)) {
    digests.push(digestRow(row, [...place, String(digests.length)]))
    if (digests.length > mostRows) throw tooLarge()
    if (digests.length % rowsAtOnce === 0) await yieldToOthers()
  }
  return digests
}

/** @throws {Refusal} 422 when it is no object */
export function digestRow(row: string, place: string[]): string {
  if (row.startsWith('{')) return digestValue(parseValue(row))
  throw unprocessable({ loc: place, msg: 'Input should be a valid dictionary', type: 'dict_type' })
}
