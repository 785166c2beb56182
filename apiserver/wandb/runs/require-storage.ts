import type { RunRow } from '../../../db/runs/table.ts'
import type { RunChange } from '../../../db/runs/upsert.ts'
import { requireStorage, type LimitDeps } from '../../accounts/limits/service.ts'
import { retryWhenFull } from '../retry-when-full.ts'

/**
 * Checks that an entity may store a change of a run.
 *
 * @throws {HttpError} 403 if a run cannot begin, or begin again, because the entity is full; 429 for a change of a
 *   running run, which its SDK would drop after a 403
 */
export async function requireRunStorage(
  deps: LimitDeps,
  entity: string,
  { change, find }: { change: RunChange; find: () => Promise<RunRow | undefined> },
): Promise<void> {
  const texts = Object.values(change).flat()
  const bytes = texts.reduce((sum: number, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
  try {
    await requireStorage(deps, entity, bytes)
  } catch (error) {
    const run = await find()
    if (run?.state !== 'running' && run?.state !== 'preempting') throw error
    await retryWhenFull(() => Promise.reject(error as Error))
  }
}
