import type { Project } from '../projects.ts'
import { CallFields } from './call-fields.ts'
import { compileCallsFilter, type CallsFilter } from './calls-filter.ts'
import { compileCondition, compileSort } from './compile.ts'
import type { SqlParams } from './params.ts'
import { planOnce } from './plan-once.ts'
import type { SortKey } from './schema.ts'
import { checkSize } from './sql-size.ts'

/** Which calls are asked for, and in what order; each member as it stands in a request. */
export interface CallsSelection {
  filter?: CallsFilter | null | undefined
  query?: { $expr: unknown } | null | undefined
  sortBy?: SortKey[] | null | undefined
  expandColumns?: string[] | null | undefined
}

/**
 * What follows WHERE of a statement over `tracing.calls c`: the project's calls that can be seen and that filter and query
 * match. Order and limits take their parameters from the same list:
 *
 *     const params = new SqlParams()
 *     const where = compileCallsWhere(selection, project, params)
 *     const orderBy = compileCallsOrder(selection, project, params)
 *     streamCalls(pool, { columns, where, orderBy, limit, offset, values: params.values })
 *
 * Payloads that lie in the artifact store are not looked into.
 */
export function compileCallsWhere(selection: CallsSelection, project: Project, params: SqlParams): string {
  const { filter, query, expandColumns } = selection
  const conditions = [`c.project = ${params.add(project.number)}::int`, visible]
  if (filter) conditions.push(...compileCallsFilter(filter, params))
  const fields = new CallFields(project.id, expandColumns ?? [], params)
  if (query) conditions.push(planOnce(compileCondition(query.$expr, fields, params), params.bytes))
  return checkSize(conditions.join(' AND '))
}

// As the index of calls in time has them.
const visible = 'c.started_at IS NOT NULL AND c.deleted_at IS NULL'

const inTime: SortKey[] = [{ field: 'started_at', direction: 'asc' }]

/** `ORDER BY …`: in the order of time when nothing is asked for, in none (and empty) for an empty list. */
export function compileCallsOrder(selection: CallsSelection, project: Project, params: SqlParams): string {
  const sortBy = selection.sortBy ?? inTime
  if (sortBy.length === 0) return ''
  const fields = new CallFields(project.id, selection.expandColumns ?? [], params)
  const keys = compileSort(sortBy, fields, params)
  // Pages must not overlap.
  return `ORDER BY ${keys}${sortBy.some(({ field }) => field === 'id') ? '' : ', c.id ASC'}`
}
