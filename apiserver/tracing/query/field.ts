/** A column or an expression over columns, of one type. Texts compare by code points, in any collation. */
export interface PlainField {
  kind: 'text' | 'number' | 'boolean' | 'time'
  sql: string
  /** The value is never null, so that an index serves both sort directions. */
  neverNull?: true
}

/** A path in a JSON document. Its value is a text, as from `#>>`, or null if it is missing or null. */
export interface JsonField {
  kind: 'json'
  /** SQL of the document, of type json. */
  sql: string
  path: string[]
}

/** A value of each row that belongs to a call. A condition is true if it is true for any of these rows. */
export interface RowsField {
  kind: 'rows'
  /** The part of a statement after FROM. Its WHERE ends in a condition: `tracing.feedback f WHERE f.call_id = c.id`. */
  rows: string
  /** The table's alias in `rows`. It is unique in the statement. */
  alias: string
  /** The order that selects one of several rows as the sort key. */
  orderBy: string
  value: PlainField | JsonField
}

export type Field = PlainField | JsonField | RowsField

/** The fields that a table offers to queries and sorting. */
export interface Fields {
  /** @throws {HttpError} 403 for an unknown field, made by `unknownField` */
  resolve(path: string): Field
}

export function unknownField(path: string): HttpError {
  return invalidField(`Field ${path.slice(0, 300)} is not allowed`)
}

// Documents are at most 500 levels deep.
const maxSegments = 512
const maxPathLength = 64 * 1024

const dumpName = /^(attributes|inputs|output|summary)_dump(?=\.|$)/

/** Production stores the payload `inputs` in a column `inputs_dump`. Clients use both names. */
export function renameDump(path: string): string {
  return path.replace(dumpName, '$1')
}

/** Splits a path at its dots. A backslash before a dot keeps the dot in the name: `a.b\.c.0` is a, b.c, 0. */
export function splitPath(path: string): string[] {
  if (path.length > maxPathLength) throw badRequest(`A field has at most ${maxPathLength} characters.`)
  const segments = path.split(/(?<!\\)\./).map((segment) => segment.replaceAll(String.raw`\.`, '.'))
  if (segments.length > maxSegments) throw badRequest(`A field has at most ${maxSegments} parts.`)
  return segments
}
import type { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest, invalidField } from '../errors.ts'
