import type { Static } from 'typebox'
import type { Pool } from '../../../db/pool.ts'
import type { Project } from '../projects.ts'
import { isCount, planColumns } from '../query/answer-columns.ts'
import { answerRows } from '../query/answer-rows.ts'
import { compileCondition, compileSort } from '../query/compile.ts'
import { SqlParams } from '../query/params.ts'
import type { rowsQuerySchema } from '../query/schema.ts'
import { allFields, feedbackFields } from './fields.ts'

/** Reads a project's feedback as JSON texts. The default order is oldest first. */
export function queryFeedback(
  pool: Pool,
  project: Project,
  wire: Static<typeof rowsQuerySchema>,
): AsyncGenerator<string> {
  const params = new SqlParams()
  const names = wire.fields?.length ? wire.fields : allFields
  const columns = planColumns(names, feedbackFields, params)
  const own = `f.project = ${params.add(project.number)}`
  const where = wire.query ? `${own} AND ${compileCondition(wire.query.$expr, feedbackFields, params)}` : own
  const sort = () => `${compileSort(wire.sort_by ?? [], feedbackFields, params) || 'f.created_at'}, f.id`
  return answerRows(pool, columns, {
    from: 'tracing.feedback f',
    where,
    orderBy: isCount(names) ? '' : sort(),
    limit: wire.limit ?? null,
    offset: wire.offset ?? null,
    values: params.values,
  })
}
