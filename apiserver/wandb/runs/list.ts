import { HttpError } from '../../../lib/http/http-error.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { countRuns, listRuns } from '../../../db/runs/list.ts'
import { FilterError } from '../../../db/runs/filter-fields.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import { errors } from '../../errors/table.ts'
import { findInteger, findText, invalidArgument } from '../graphql/arguments.ts'
import type { ProjectName } from '../graphql/resource.ts'
import type { Arguments } from '../graphql/values.ts'

interface SelectDeps {
  admission: Admission
  pool: Pool
}

const defaultRuns = 50
const maxRuns = 200
const maxFilterLength = 64 * 1024

/** Lists a page of a project's runs. @throws {HttpError} 400 for a filter or an order that cannot be used */
export async function listSelected(
  deps: SelectDeps,
  name: ProjectName,
  args: Arguments,
): Promise<{ rows: RunRow[]; hasMore: boolean }> {
  const limit = Math.min(Math.max(findInteger(args, 'first') ?? defaultRuns, 1), maxRuns)
  const page = { order: findText(args, 'order') ?? '+created_at', after: readCursor(args), limit: limit + 1 }
  const rows = await filtered(deps, () => listRuns(deps.pool, { ...name, filter: readFilter(args) }, page))
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}

/** Counts a project's runs that match a filter. */
export function countSelected(deps: SelectDeps, name: ProjectName, args: Arguments): Promise<number> {
  return filtered(deps, () => countRuns(deps.pool, { ...name, filter: readFilter(args) }))
}

async function filtered<T>({ admission }: SelectDeps, work: () => Promise<T>): Promise<T> {
  try {
    return await admission.run('run_reads', work)
  } catch (error) {
    throw error instanceof FilterError ? new HttpError(errors.bad_request, `${error.message}.`) : error
  }
}

function readCursor(args: Arguments): number | undefined {
  const after = findText(args, 'after')
  if (after === undefined || after === '') return undefined
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw invalidArgument('after', 'must be the cursor of a run')
}

/** Filters are sent as JSON texts. */
function readFilter(args: Arguments): unknown {
  const text = findText(args, 'filters') ?? ''
  if (text === '') return {}
  if (text.length > maxFilterLength) throw invalidArgument('filters', `is longer than ${maxFilterLength} characters`)
  try {
    return parseText(text) ?? {}
  } catch {
    throw invalidArgument('filters', 'must be the text of a JSON object')
  }
}
