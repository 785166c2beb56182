import { unprocessable } from '../../../lib/http/http-error.ts'
import { badRequest, missing, tooLarge } from '../errors.ts'
import { addTable, readOrder } from '../../../db/tracing/tables.ts'
import { truncate } from '../truncate.ts'
import { digestTable } from '../digests.ts'
import { findProjectNumbers } from '../internal-refs.ts'
import type { Project } from '../projects.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { maxDigests } from './create-table.ts'
import { DigestList } from './digest-list.ts'
import { digestRow, type RowDeps, type TableWriteDeps } from './digest-rows.ts'
import type { TableUpdates } from './schema.ts'

// Clients send some thousands of updates. Each one searches its index.
const maxUpdates = 100_000

type Update = TableUpdates['updates'][number]

/**
 * Creates a table from another table's rows. The updates are applied in order. The other table does not change. Returns
 * the new table's digest, and for each update the digest of the inserted or removed row.
 *
 * @throws {HttpError} 404 for an unknown table, 400 for an index out of range, 422 for an invalid update, 413 for too
 * many updates or rows
 */
export async function updateTable(
  { pool, ...deps }: TableWriteDeps,
  project: Project,
  { base_digest: base, updates }: TableUpdates,
): Promise<{ digest: string; updatedRowDigests: string[] }> {
  if (updates.length > maxUpdates) throw tooLarge()
  const order = await readOrder(pool, project.number, base)
  if (!order) throw missing(`Table ${truncate(base)} not found`)
  const texts = updates.map(({ append, insert }) => String(append?.row ?? insert?.row ?? ''))
  const numbers = await findProjectNumbers(pool, project, texts.join('\n'))
  const update = new TableUpdate({ ...deps, numbers }, new DigestList(order))
  const updatedRowDigests: string[] = []
  const yielder = new EventLoopYielder()
  for (const [index, change] of updates.entries()) {
    if (yielder.isDue()) await yielder.yield()
    updatedRowDigests.push(await update.apply(change, ['body', 'updates', String(index)]))
  }
  if (update.rows.length > maxDigests) throw tooLarge()
  const rowDigests = update.rows.toArray()
  const digest = digestTable(rowDigests)
  const rows = { digests: [...update.added.keys()], array: `[${[...update.added.values()].join(',')}]` }
  await addTable(pool, project.number, { digest, rowDigests, rows })
  return { digest, updatedRowDigests }
}

class TableUpdate {
  readonly #deps: RowDeps
  readonly rows: DigestList
  /** The texts of new rows by digest. */
  readonly added = new Map<string, string>()

  constructor(deps: RowDeps, rows: DigestList) {
    this.#deps = deps
    this.rows = rows
  }

  async apply({ append, pop, insert }: Update, path: string[]): Promise<string> {
    if (append) return this.#add(this.rows.length, append.row, [...path, 'append', 'row'])
    if (insert) return this.#add(insert.index, insert.row, [...path, 'insert', 'row'])
    if (pop) return this.rows.remove(checkIndex(pop.index, this.rows.length - 1))
    throw unprocessable({ loc: path, msg: 'Send one of append, pop and insert', type: 'missing' })
  }

  async #add(index: number, row: { toString(): string }, path: string[]): Promise<string> {
    const text = String(row)
    const digest = await digestRow(this.#deps, text, path)
    this.rows.insert(checkIndex(index, this.rows.length), digest)
    this.added.set(digest, text)
    return digest
  }
}

function checkIndex(index: number, last: number): number {
  if (index >= 0 && index <= last) return index
  throw badRequest('Index out of range')
}
