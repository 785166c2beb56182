import { badRequest } from '../errors.ts'
import type { JsonField } from './field.ts'
import type { SqlParams } from './params.ts'

interface Expansion {
  projectId: string
  /** Paths at which refs are looked through. */
  columns: readonly string[][]
  params: SqlParams
}

// Each is a look into the table of objects for every row.
const maxLooks = 10

/** A place in a call's documents, behind the refs that stand on the way to it where the client says so. */
export function expandPath(path: string[], { projectId, columns, params }: Expansion): JsonField {
  const lengths = new Set(columns.filter((column) => isBefore(column, path)).map((column) => column.length))
  if (lengths.size > maxLooks) throw badRequest(`A field may use at most ${maxLooks} expanded columns.`)
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
