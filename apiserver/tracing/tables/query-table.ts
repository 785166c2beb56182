import type { Pool } from '../../../db/pool.ts'
import { badRequest } from '../errors.ts'
import {
  measureTables,
  pageTable,
  queryTable,
  queryTableParameters,
  readRows,
  type RowSort,
  type TableRow,
} from '../../../db/tracing/tables.ts'
import { fillValues } from '../fill-values.ts'
import type { Project } from '../projects.ts'
import { compileSort } from '../query/compile.ts'
import { splitPath, type Fields } from '../query/field.ts'
import { checkNames, SqlParams } from '../query/params.ts'
import type { SortKey } from '../query/schema.ts'
import { partBytes, type ReadDeps } from '../read-memory.ts'
import { readPage } from '../read-page.ts'
import type { TableQuery } from './schema.ts'

// This many rows are in memory at once, with some of their values.
const rowsAtOnce = 10_000
// Every part sorts all rows again, so parts are large.
const rowsSortedAtOnce = 100_000

/**
 * Lists the rows of a table as JSON texts. An unknown table has no rows. Rows are read while the list is written.
 *
 * @throws {HttpError} 400 for invalid pages and paths
 */
export function listRows(deps: ReadDeps, project: Project, query: TableQuery): AsyncIterable<string> {
  const page = { digest: query.digest, ...readPage(query) }
  const digests = query.filter?.row_digests?.length ? query.filter.row_digests : null
  checkNames(digests)
  const sort = query.sort_by?.length ? writeSort(checkSort(query.sort_by)) : undefined
  const rows = digests || sort ? chooseRows(deps, project, { ...page, digests, sort }) : pageRows(deps, project, page)
  return presentRows(rows)
}

type Page = ReturnType<typeof readPage> & { digest: string }

async function* chooseRows(
  deps: ReadDeps,
  project: Project,
  choice: Page & { digests: string[] | null; sort: RowSort | undefined },
): AsyncGenerator<TableRow> {
  const end = choice.limit === null ? Infinity : choice.offset + choice.limit
  for (let from = choice.offset; from < end; from += rowsSortedAtOnce) {
    const part = { offset: from, limit: Math.min(rowsSortedAtOnce, end - from), valueBytes: partBytes }
    const rows = await queryTable(deps.pool, project.number, { ...choice, ...part })
    yield* fillRows(deps, project, rows)
    if (rows.length < part.limit) return
  }
}

/** Reads rows in the table's order, in parts. A part is short where rows are missing, and after the last row. */
async function* pageRows(deps: ReadDeps, project: Project, { digest, limit, offset }: Page): AsyncGenerator<TableRow> {
  const end = limit === null ? Infinity : offset + limit
  for (let from = offset; from < end; from += rowsAtOnce) {
    const part = { digest, offset: from, limit: Math.min(rowsAtOnce, end - from), valueBytes: partBytes }
    const rows = await pageTable(deps.pool, project.number, part)
    yield* fillRows(deps, project, rows)
    if (rows.length < part.limit && from + rowsAtOnce >= (await countRows(deps.pool, project, digest))) return
  }
}

async function countRows(pool: Pool, project: Project, digest: string): Promise<number> {
  const [table] = await measureTables(pool, project.number, { digests: [digest], withSize: false })
  return table?.rowCount ?? 0
}

function fillRows({ pool, reading }: ReadDeps, project: Project, rows: TableRow[]): AsyncGenerator<TableRow> {
  return fillValues(rows, reading, async (batch) => {
    const digests = batch.map(({ digest }) => digest)
    const values = await readRows(pool, project.number, digests)
    return digests.map((digest) => values.get(digest))
  })
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

/** Any path may exist in some row. */
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
