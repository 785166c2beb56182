import { tooLarge } from '../errors.ts'
import { deleteCalls, listParents, listTraces } from '../../../db/tracing/change-calls.ts'
import type { Caller } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import { checkNames } from '../query/params.ts'
import { weeksOf } from '../../../db/tracing/week.ts'

const maxIds = 1_000
// Of a larger trace some calls at the end are not found below their parents.
const maxPerTrace = 10_000

/** Deletes calls and all that stand below them; answers how many. @throws {HttpError} 413 for more than 1,000 ids */
export async function deleteWithDescendants(
  { pool, projects }: ProjectDeps,
  caller: Caller,
  { projectId, callIds }: { projectId: string; callIds: string[] },
): Promise<number> {
  if (callIds.length > maxIds) throw tooLarge()
  checkNames(callIds)
  const { number: project } = await projects.find(caller, projectId)
  const found = await listTraces(pool, { weeks: weeksOf(callIds), project, ids: callIds })
  if (found.length === 0) return 0
  let deleted = 0
  for (const [traceId, calls] of Map.groupBy(found, (call) => call.traceId)) {
    const parents = await listParents(pool, { project, traceId, limit: maxPerTrace })
    const ids = withDescendants(
      calls.map(({ id }) => id),
      parents,
    )
    deleted += await deleteCalls(pool, { weeks: weeksOf(ids), project, ids })
  }
  return deleted
}

/** The ids and those of all that stand below them, at any depth. */
export function withDescendants(ids: string[], calls: { id: string; parentId: string | null }[]): string[] {
  const children = Map.groupBy(calls, ({ parentId }) => parentId)
  const all = new Set(ids)
  // A set is walked through with what is added meanwhile; calls in a circle are in it once.
  for (const id of all) for (const child of children.get(id) ?? []) all.add(child.id)
  return [...all]
}
