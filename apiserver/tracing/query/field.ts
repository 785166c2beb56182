/** A column, or an expression over columns, of one type. Texts compare by code points whatever their collation. */
export interface PlainField {
  kind: 'text' | 'number' | 'boolean' | 'time'
  sql: string
  /** It is never null: sorting can follow an index in both directions. */
  neverNull?: true
}

/** A place inside of a JSON document: a text there, as `#>>` gives it, or nothing where it is missing or null. */
export interface JsonField {
  kind: 'json'
  /** SQL of the document, of type json. */
  sql: string
  path: string[]
}

/** A value of each of the rows that belong to a row. What is asked of it holds if it holds for any of them. */
export interface RowsField {
  kind: 'rows'
  /** What follows FROM, with a WHERE that ends in a condition: `tracing.feedback f WHERE f.call_id = c.id`. */
  rows: string
  /** The name of the table in it, which no other field of the statement has. */
  alias: string
  /** Which row is sorted by, where there are several. */
  orderBy: string
  value: PlainField | JsonField
}

export type Field = PlainField | JsonField | RowsField

/** What a table offers to queries and sorting. */
export interface Fields {
  /** @throws {HttpError} 403 for what is no field; `unknownField` makes it */
  resolve(path: string): Field
}

export function unknownField(path: string): HttpError {
  return invalidField(`Field ${path.slice(0, 300)} is not allowed`)
}

// Documents are at most 500 deep.
const maxSegments = 512
const maxPathLength = 64 * 1024

/** `a.b\.c.0` is a, b.c, 0: a backslash before a dot keeps it in the name. */
export function splitPath(path: string): string[] {
  if (path.length > maxPathLength) throw badRequest(`A field has at most ${maxPathLength} characters.`)
  const segments = path.split(/(?<!\\)\./).map((segment) => segment.replaceAll(String.raw`\.`, '.'))
  if (segments.length > maxSegments) throw badRequest(`A field has at most ${maxSegments} parts.`)
  return segments
}
import type { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest, invalidField } from '../errors.ts'
