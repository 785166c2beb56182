import { notFound } from '../../../lib/http/http-error.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import { addMember, rawObject, rawText } from '../../../lib/json/raw.ts'
import { findCalls, type CallDeps, type CallReading } from '../calls/service.ts'
import type { Project } from '../projects.ts'
import type { ReadMemory } from '../read-memory.ts'

/** What the rows are copied from. */
interface CallSource {
  project: Project
  ids: readonly string[]
  rows: ReadMemory
}

/**
 * Reads calls as rows, in the order of the ids. @throws {HttpError} 404 for an unknown call, 413 for rows that are too
 * large together
 */
export async function readCallRows(
  deps: CallDeps,
  by: CallReading,
  { project, ids, rows }: CallSource,
): Promise<string[]> {
  const wanted = { project_id: project.id, filter: { call_ids: [...ids] }, columns: ['inputs', 'output'], sort_by: [] }
  const found = new Map<string, string>()
  for await (const calls of findCalls(deps, by, wanted)) {
    for (const call of calls) {
      const { id, row } = writeRow(project, Buffer.from(call))
      rows.add(row.length)
      found.set(id, row)
    }
  }
  return ids.map((id) => {
    const row = found.get(id)
    if (row === undefined) throw notFound('Call', id)
    return row
  })
}

/** The call's inputs, as the arguments of its op, with its output and what it is a copy of. */
function writeRow(project: Project, call: Buffer): { id: string; row: string } {
  const id = JSON.parse(String(findMember(call, 'id'))) as string
  const inputs = String(findMember(call, 'inputs') ?? '{}')
  const output = String(findMember(call, 'output') ?? 'null')
  const start = inputs.startsWith('{') ? inputs : rawObject({ inputs: rawText(inputs) })
  const ref = JSON.stringify(`weave:///${project.id}/call/${id}`)
  return { id, row: addMember(addMember(start, 'output', output), 'call', ref) }
}
