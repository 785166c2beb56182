import { badRequest, invalidField } from '../errors.ts'
import type { Fields } from './field.ts'
import { readJson } from './operand.ts'
import type { SqlParams } from './params.ts'
import { writeParts } from './sql-size.ts'

/** A member of the objects of an answer, under the name that was asked for. */
export interface AnswerColumn {
  name: string
  sql: string
  /** Its value is the text of a JSON value. */
  isJson: boolean
}

const countName = 'count(*)'
// A statement has at most 1,664 columns.
const maxColumns = 500

/**
 * What to select for the fields that a request names. A place in a document is answered as a text, as it is compared;
 * `count(*)` stands alone.
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

/** Whether only a number of rows is asked for. */
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

/** The JSON text of one object of the answer, whose values stand under their places. */
export function writeAnswerRow(columns: readonly AnswerColumn[], row: Record<string, string | number | null>): string {
  const members = columns.map(({ name, isJson }, place) => {
    const value = row[place] ?? null
    return `${JSON.stringify(name)}:${isJson && value !== null ? value : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}
