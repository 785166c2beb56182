import { unprocessable } from '../../../lib/http/http-error.ts'
import { tooLarge } from '../errors.ts'
import type { ValueInspector } from '../objects/value-inspector.ts'
import type { Pool } from '../../../db/pool.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import type { ProjectNumbers } from '../internal-refs.ts'
import { splitItems } from './split-rows.ts'

export interface RowDeps {
  inspector: ValueInspector
  /** Of the projects that references in the rows name. */
  numbers: ProjectNumbers
  /** Of the entity that owns the rows. */
}

export interface TableWriteDeps extends Omit<RowDeps, 'numbers'> {
  pool: Pool
}

// Clients send 1,000 rows in a request. A body could contain ten million empty rows.
const maxRows = 200_000

/**
 * Computes the digests of rows, in order. Other requests can run in between.
 *
 * @throws {HttpError} 422 for a row that is not an object, 413 for too many rows
 */
export async function digestRows(deps: RowDeps, rows: JsonText, path: string[]): Promise<string[]> {
  if (rows.first !== '[') throw unprocessable({ loc: path, msg: 'Input should be a valid list', type: 'list_type' })
  const digests: string[] = []
  const yielder = new EventLoopYielder()
  for (const row of splitItems(rows.bytes)) {
    digests.push(await digestRow(deps, row, [...path, String(digests.length)]))
    if (digests.length > maxRows) throw tooLarge()
    if (yielder.isDue()) await yielder.yield()
  }
  return digests
}

/** @throws {HttpError} 422 for a row that is not an object */
export async function digestRow({ inspector, numbers }: RowDeps, row: string, path: string[]): Promise<string> {
  if (row.startsWith('{')) return (await inspector.inspect({ val: row, numbers })).digest
  throw unprocessable({ loc: path, msg: 'Input should be a valid dictionary', type: 'dict_type' })
}
