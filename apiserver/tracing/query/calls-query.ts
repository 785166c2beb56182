import type { Project } from '../projects.ts'
import { CallFields } from './call-fields.ts'
import { compileCallsFilter, type CallsFilter } from './calls-filter.ts'
import { compileCondition, compileSort } from './compile.ts'
import type { SqlParams } from './params.ts'
import { planOnce } from './plan-once.ts'
import type { SortKey } from './schema.ts'
import { checkSize } from './sql-size.ts'

/** The calls that a request selects, and their order. The members have the form of the request. */
export interface CallsSelection {
  filter?: CallsFilter | null | undefined
  query?: { $expr: unknown } | null | undefined
  sortBy?: SortKey[] | null | undefined
  expandColumns?: string[] | null | undefined
}

/**
 * Compiles the WHERE clause of a statement on `tracing.calls c`: the project's visible calls that match filter and
 * query. Order and limits add their parameters to the same list:
 *
 *     const params = new SqlParams()
 *     const where = compileCallsWhere(selection, project, params)
 *     const orderBy = compileCallsOrder(selection, project, params)
 *     streamCalls(pool, { columns, where, orderBy, limit, offset, values: params.values })
 *
 * Payloads in the artifact store are not searched.
 */
export function compileCallsWhere(selection: CallsSelection, project: Project, params: SqlParams): string {
  const { filter, query, expandColumns } = selection
  const conditions = [`c.project = ${params.add(project.number)}::int`, visible]
  if (filter) conditions.push(...compileCallsFilter(filter, params))
  const fields = new CallFields(project.id, expandColumns ?? [], params)
  if (query) conditions.push(planOnce(compileCondition(query.$expr, fields, params), params.bytes))
  return checkSize(conditions.join(' AND '))
}

// The same condition as in the partial index on time.
const visible = 'c.started_at IS NOT NULL AND c.deleted_at IS NULL'

const inTime: SortKey[] = [{ field: 'started_at', direction: 'asc' }]

/** Compiles ORDER BY. The default is the order of time. An empty list means no order. */
export function compileCallsOrder(selection: CallsSelection, project: Project, params: SqlParams): string {
  const sortBy = selection.sortBy ?? inTime
  if (sortBy.length === 0) return ''
  const fields = new CallFields(project.id, selection.expandColumns ?? [], params)
  const keys = compileSort(sortBy, fields, params)
  // The id makes the order total, so that pages do not overlap.
  return `ORDER BY ${keys}${sortBy.some(({ field }) => field === 'id') ? '' : ', c.id ASC'}`
}
