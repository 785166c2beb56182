import {
  pageTable,
  queryTable,
  queryTableParameters,
  readRows,
  type RowSort,
  type TableRow,
} from '../../../db/tracing/tables.ts'
import type { TraceDeps } from '../deps.ts'
import { fillValues, valueBytesAtOnce } from '../fill-values.ts'
import type { Project } from '../projects.ts'
import { compileSort } from '../query/compile.ts'
import { splitPath, type Fields } from '../query/field.ts'
import { SqlParams } from '../query/params.ts'
import type { SortKey } from '../query/schema.ts'
import { readPage } from '../read-page.ts'
import { badRequest } from '../refusals.ts'
import type { TableQuery } from './schema.ts'

/**
 * Rows of a table, as JSON texts; none of an unknown table. What can be wrong with the query is found out at once, and
 * values are read while the list is written.
 */
export async function listRows(
  { pool }: Pick<TraceDeps, 'pool'>,
  project: Project,
  query: TableQuery,
): Promise<AsyncIterable<string>> {
  const page = { digest: query.digest, ...readPage(query), valueBytes: valueBytesAtOnce }
  const digests = query.filter?.row_digests?.length ? query.filter.row_digests : null
  const sortBy = query.sort_by?.length ? checkSort(query.sort_by) : undefined
  const rows =
    digests || sortBy
      ? await queryTable(pool, project.number, { ...page, digests, sort: sortBy && writeSort(sortBy) })
      : await pageTable(pool, project.number, page)
  return presentRows(
    fillValues(rows, async (batch) => {
      const values = await readRows(
        pool,
        project.number,
        batch.map(({ digest }) => digest),
      )
      return batch.map(({ digest }) => values.get(digest))
    }),
  )
}

async function* presentRows(rows: AsyncIterable<TableRow>): AsyncGenerator<string> {
  for await (const { digest, index, val } of rows)
    yield `{"digest":${JSON.stringify(digest)},"val":${val},"original_index":${index}}`
}

function writeSort(sortBy: SortKey[]): RowSort {
  const params = new SqlParams()
  for (let index = 0; index < queryTableParameters; index++) params.add(undefined)
  const sql = compileSort(sortBy, rowFields, params)
  return { sql, values: params.values.slice(queryTableParameters) }
}

/** Every path leads to something in some row. */
const rowFields: Fields = {
  resolve: (path) => ({ kind: 'json', sql: 'r.val', path: splitPath(path) }),
}

function checkSort(sortBy: SortKey[]): SortKey[] {
  for (const { field } of sortBy) {
    if (field.trim() === '') throw badRequest('Sort field cannot be empty')
    if (field.split('.').some((part) => part.trim() === ''))
      throw badRequest(`Invalid sort field '${field.slice(0, 200)}': no part of it can be empty`)
  }
  return sortBy
}
