import type { StoredCall } from '../../../db/tracing/read-calls.ts'
import type { TraceDeps } from '../deps.ts'
import type { Project } from '../projects.ts'
import type { CallExtras } from './present.ts'
import type { CallsQuery } from './query-schema.ts'

/** What was asked for of calls and does not stand in their rows, by their ids. */
export async function lookUpExtras(
  _deps: TraceDeps,
  _asked: { project: Project; calls: StoredCall[]; wanted: CallsQuery },
): Promise<Map<string, CallExtras>> {
  return new Map()
}
