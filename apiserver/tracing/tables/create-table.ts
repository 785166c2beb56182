import { digestMismatch, tooLarge } from '../errors.ts'
import { addTable } from '../../../db/tracing/tables.ts'
import type { Pool } from '../../../db/pool.ts'
import { digestTable } from '../digests.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { findProjectNumbers } from '../internal-refs.ts'
import type { Project } from '../projects.ts'
import { digestRows, type TableWriteDeps } from './digest-rows.ts'

/** A table's row order is written in one statement, which limits its rows. */
export const maxDigests = 1_000_000

/** The digest that the client computed, if it did. */
type Expected = string | null | undefined

/**
 * Creates a table with rows. Returns its digest and the rows' digests. @throws {HttpError} 409 when the client computed
 * another digest, and what digestRows throws
 */
export async function createTable(
  deps: TableWriteDeps,
  project: Project,
  { rows, expectedDigest }: { rows: JsonText; expectedDigest: Expected },
): Promise<{ digest: string; rowDigests: string[] }> {
  const array = rows.toString()
  const numbers = await findProjectNumbers(deps.pool, project, array)
  const rowDigests = await digestRows({ ...deps, numbers }, rows, ['body', 'table', 'rows'])
  const digest = digestAsExpected(rowDigests, expectedDigest)
  const added = { digests: rowDigests, array }
  await addTable(deps.pool, project.number, { digest, rowDigests, rows: added })
  return { digest, rowDigests }
}

/**
 * Creates a table of row digests. The rows may be created later. Returns the table's digest.
 *
 * @throws {HttpError} 409 when the client computed another digest, 413 for too many rows
 */
export async function createTableOfDigests(
  pool: Pool,
  project: Project,
  { rowDigests, expectedDigest }: { rowDigests: string[]; expectedDigest: Expected },
): Promise<string> {
  if (rowDigests.length > maxDigests) throw tooLarge()
  const digest = digestAsExpected(rowDigests, expectedDigest)
  await addTable(pool, project.number, { digest, rowDigests })
  return digest
}

function digestAsExpected(rowDigests: string[], expected: Expected): string {
  const digest = digestTable(rowDigests)
  if (expected && expected !== digest) throw digestMismatch(`The digest of the table is ${digest}`)
  return digest
}
