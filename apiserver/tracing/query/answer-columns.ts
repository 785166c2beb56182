import { badRequest, invalidField } from '../errors.ts'
import type { Fields } from './field.ts'
import { readJson } from './operand.ts'
import type { SqlParams } from './params.ts'
import { writeParts } from './sql-size.ts'

/** A member of the answer's objects, under the name from the request. */
export interface AnswerColumn {
  name: string
  sql: string
  /** Whether the value is JSON text. */
  isJson: boolean
}

const countName = 'count(*)'
// Postgres allows at most 1,664 columns in a statement.
const maxColumns = 500

/**
 * Plans the SELECT list for the fields that a request names. A path in a document is answered as a text, as comparisons
 * use it. `count(*)` must be the only field.
 *
 * @throws {HttpError} 403 for unknown fields, 400 for too many
 */
export function planColumns(names: readonly string[], fields: Fields, params: SqlParams): AnswerColumn[] {
  const distinct = [...new Set(names)]
  if (distinct.length > maxColumns) throw badRequest(`There are at most ${maxColumns} fields.`)
  if (isCount(distinct)) return [{ name: distinct[0]!, sql: 'count(*)', isJson: false }]
  const columns = distinct.map((name) => planColumn(name, fields, params))
  writeParts(columns, ({ sql }) => sql)
  return columns
}

/** Whether the request only asks for the number of rows. */
export function isCount(names: readonly string[]): boolean {
  const isAsked = names.some((name) => name.toLowerCase() === countName)
  if (isAsked && names.length > 1) throw badRequest(`${countName} cannot be combined with other fields.`)
  return isAsked
}

function planColumn(name: string, fields: Fields, params: SqlParams): AnswerColumn {
  const field = fields.resolve(name)
  if (field.kind === 'rows') throw invalidField(`Field ${name.slice(0, 300)} belongs to several rows`)
  if (field.kind !== 'json') return { name, sql: field.sql, isJson: false }
  if (field.path.length === 0) return { name, sql: field.sql, isJson: true }
  return { name, sql: `coalesce(${readJson(field, params)}, '')`, isJson: false }
}

/** Writes one object of the answer as JSON text. `row` has the values by column index. */
export function writeAnswerRow(columns: readonly AnswerColumn[], row: Record<string, string | number | null>): string {
  const members = columns.map(({ name, isJson }, index) => {
    const value = row[index] ?? null
    return `${JSON.stringify(name)}:${isJson && value !== null ? value : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}
