import { badRequest } from '../errors.ts'
import type { JsonField } from './field.ts'
import type { SqlParams } from './params.ts'

interface Expansion {
  projectId: string
  /** Paths at which refs are replaced by their values. */
  columns: readonly string[][]
  params: SqlParams
}

// Each of these reads the objects table for every row.
const maxExpansions = 10

/** A path in a call's documents. It continues in the value of a ref where the client names the path to the ref. */
export function expandPath(path: string[], { projectId, columns, params }: Expansion): JsonField {
  const lengths = new Set(columns.filter((column) => isBefore(column, path)).map((column) => column.length))
  if (lengths.size > maxExpansions) throw badRequest(`A field may use at most ${maxExpansions} expanded columns.`)
  let [sql, read] = [`c.${path[0]}`, 1]
  for (const length of [...lengths].toSorted((a, b) => a - b)) {
    const held = length > read ? `${sql} #> ${params.add(path.slice(read, length))}::text[]` : sql
    sql = `tracing.look_through(c.project, ${params.add(projectId)}::text, ${held})`
    read = length
  }
  return { kind: 'json', sql, path: path.slice(read) }
}

function isBefore(column: string[], path: string[]): boolean {
  return column.length < path.length && column.every((segment, index) => segment === path[index])
}
