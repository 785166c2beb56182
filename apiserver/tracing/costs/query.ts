import type { Static } from 'typebox'
import type { Pool } from '../../../db/pool.ts'
import type { Project } from '../projects.ts'
import { planColumns, type AnswerColumn } from '../query/answer-columns.ts'
import { answerRows } from '../query/answer-rows.ts'
import { compileCondition, compileSort } from '../query/compile.ts'
import { SqlParams } from '../query/params.ts'
import type { rowsQuerySchema } from '../query/schema.ts'
import { costFields, presentedFields } from './fields.ts'

/** Reads a project's own costs as JSON texts. The default order is oldest first. */
export function queryCosts(pool: Pool, project: Project, wire: Static<typeof rowsQuerySchema>): AsyncGenerator<string> {
  const params = new SqlParams()
  const columns = planMembers(wire.fields, params)
  const own = `f.project = ${params.add(project.number)}`
  const where = wire.query ? `${own} AND ${compileCondition(wire.query.$expr, costFields, params)}` : own
  const sorts = [compileSort(wire.sort_by ?? [], costFields, params) || 'f.created_at', 'f.id']
  return answerRows(pool, columns, {
    from: 'tracing.costs f',
    where,
    orderBy: sorts.join(', '),
    limit: wire.limit ?? null,
    offset: wire.offset ?? null,
    values: params.values,
  })
}

/** Costs always have the same members. Members that the request does not name are null. */
function planMembers(names: string[] | null | undefined, params: SqlParams): AnswerColumn[] {
  if (!names?.length) return planColumns(presentedFields, costFields, params)
  for (const name of names) costFields.resolve(name)
  return presentedFields.map((name) => {
    if (!names.includes(name)) return { name, sql: 'NULL', isJson: false }
    return planColumns([name], costFields, params)[0]!
  })
}
