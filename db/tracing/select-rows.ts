import type { Pool } from '../pool.ts'
import { streamRows } from './stream-rows.ts'

/** A query that was built for one request. */
export interface RowSelection {
  from: 'tracing.feedback f' | 'tracing.costs f'
  /** SQL expressions. A row has their values under `0`, `1` and so on. */
  columns: readonly string[]
  /** A condition that names the project. */
  where: string
  orderBy: string
  limit: number | null
  offset: number | null
  values: unknown[]
}

/** SQL: the `entity/project` of a row. */
export function projectIdOf(alias: string): string {
  return `(SELECT p.entity || '/' || p.name FROM tracing.projects p WHERE p.number = ${alias}.project)`
}

export type SelectedRow = Record<string, string | number | null>

// The payload of a feedback has up to 1 MiB.
const maxRowBytes = { 'tracing.feedback f': 1024 * 1024, 'tracing.costs f': 16 * 1024 }

/** Reads the rows in chunks, in bounded memory. */
export function selectRows(pool: Pool, selection: RowSelection): AsyncGenerator<SelectedRow[], void, undefined> {
  const { from, columns, where, orderBy, limit, offset, values } = selection
  const named = columns.map((column, index) => `${column} AS "${index}"`)
  const order = orderBy === '' ? '' : `ORDER BY ${orderBy}`
  const bounds = `LIMIT $${values.length + 1}::bigint OFFSET $${values.length + 2}::bigint`
  const text = `SELECT ${named.join(', ')} FROM ${from} WHERE ${where} ${order} ${bounds}`
  return streamRows<SelectedRow>(pool, { text, values: [...values, limit, offset], maxRowBytes: maxRowBytes[from] })
}
