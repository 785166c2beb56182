import { tooLarge } from '../errors.ts'
import { deleteCalls, listParents, listTraces } from '../../../db/tracing/change-calls.ts'
import type { Caller } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import { checkNames } from '../query/params.ts'
import { weeksOf } from '../../../db/tracing/week.ts'

const maxIds = 1_000
// In a trace with more calls, some descendants of the deleted calls are not found.
const maxPerTrace = 10_000

/**
 * Deletes calls and all their descendants. Returns how many were deleted. @throws {HttpError} 413 for more than 1,000
 * ids
 */
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

/** Returns the ids and those of all descendants. */
export function withDescendants(ids: string[], calls: { id: string; parentId: string | null }[]): string[] {
  const children = Map.groupBy(calls, ({ parentId }) => parentId)
  const all = new Set(ids)
  // The loop also visits ids that are added during it. A set holds each id once, so calls that form a circle end it
  // too.
  for (const id of all) for (const child of children.get(id) ?? []) all.add(child.id)
  return [...all]
}
