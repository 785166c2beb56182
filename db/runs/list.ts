import { statementLimitsMs, withTransaction, type Pool } from '../pool.ts'
import { compileFilter } from './filter.ts'
import { FilterError, findField, Parameters } from './filter-fields.ts'
import { selectRun, type RunRow } from './table.ts'

/** Which runs: those of a project that match a filter in MongoDB's language. */
export interface RunSelection {
  entity: string
  project: string
  filter: unknown
}

/** A page of runs. `order` is a field with + or - before it. `after` is the number of the last run before the page. */
export interface RunPage {
  order: string
  after: number | undefined
  limit: number
}

/** Lists runs. @throws {FilterError} for a filter or an order that cannot be used */
export async function listRuns(pool: Pool, selection: RunSelection, page: RunPage): Promise<RunRow[]> {
  const parameters = new Parameters([selection.entity, selection.project])
  const { columns, members } = compileFilter(selection.filter, parameters)
  const { sql, direction } = compileOrder(page.order, parameters)
  const sign = direction === 'ASC' ? '>' : '<'
  const after =
    page.after === undefined
      ? 'true'
      : `(${sql}, r.number) ${sign} (SELECT ${sql}, r.number FROM ${parameters.selectRuns(`r.entity = $1 AND r.number = ${parameters.add(page.after)}`)})`
  const statement = `SELECT ${selectRun} FROM ${parameters.selectRuns(`${inProject} AND ${columns}`)} WHERE ${members} AND ${after}
    ORDER BY ${sql} ${direction}, r.number ${direction} LIMIT ${parameters.add(page.limit)}`
  return query<RunRow>(pool, statement, parameters)
}

/** Counts runs. @throws {FilterError} for a filter that cannot be used */
export async function countRuns(pool: Pool, { entity, project, filter }: RunSelection): Promise<number> {
  const parameters = new Parameters([entity, project])
  const { columns, members } = compileFilter(filter, parameters)
  const statement = `SELECT count(*) AS runs FROM ${parameters.selectRuns(`${inProject} AND ${columns}`)} WHERE ${members}`
  const [row] = await query<{ runs: number }>(pool, statement, parameters)
  return row?.runs ?? 0
}

const inProject = 'r.entity = $1 AND r.project = $2 AND r.deleted_at IS NULL'

async function query<Row extends object>(pool: Pool, statement: string, { values }: Parameters): Promise<Row[]> {
  try {
    return await withTransaction(pool, async (connection) => {
      await connection.query(`SET LOCAL statement_timeout = ${statementLimitsMs.filter}`)
      return (await connection.query<Row>(statement, values)).rows
    })
  } catch (error) {
    throw explain(error)
  }
}

const [canceled, badPattern, badTime, timeRange] = ['57014', '2201B', '22007', '22008']

const tooSlow =
  `The filter or the order takes more than ${statementLimitsMs.filter / 1_000} seconds. Use fewer conditions, ` +
  'or fields other than those of config and summary_metrics'

function explain(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === canceled) return new FilterError(tooSlow)
  if (code === badPattern) return new FilterError('$regex is not a regular expression')
  return code === badTime || code === timeRange ? new FilterError('A time is out of range') : error
}

/** Runs without the value of the order come first if it ascends. */
function compileOrder(order: string, parameters: Parameters): { sql: string; direction: 'ASC' | 'DESC' } {
  const direction = order.startsWith('-') ? 'DESC' : 'ASC'
  const name = order.replace(/^[+-]/, '')
  const { sql, type } = findField(name === '' ? 'createdAt' : name, parameters)
  if (type === 'tags') throw new FilterError('Tags have no order')
  const none = { text: "''", timestamptz: "'-infinity'", json: "'null'" }[type]
  return { sql: `coalesce(${sql}, ${none})`, direction }
}
