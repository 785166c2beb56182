import type { ErasureRow } from '../../../db/erasure/requests.ts'

export function presentErasure({ id, entity, project, requestedAt, finishedAt, report }: ErasureRow) {
  return {
    id,
    entity,
    project,
    state: finishedAt ? ('done' as const) : ('running' as const),
    requested_at: requestedAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
    report,
  }
}
