import { notFound } from '../../../lib/http/http-error.ts'
import {
  findErasure,
  findErasurePosition,
  findRecentErasure,
  hasNewer,
  listErasures,
  requestErasure,
  type ErasureRow,
  type ErasureScope,
} from '../../../db/erasure/requests.ts'
import { withInvalidation } from '../../../db/changes.ts'
import { closeProjects, hasOpenProjects } from '../../../db/erasure/traces.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { resolveCursor, type PageQuery } from '../../../lib/http/page.ts'
import { isTracedName } from '../../accounts/names.ts'

/** The databases to erase from. */
export interface ErasureDeps {
  pool: Pool
  /** For traces only. */
  tracing: Pool
}

interface ErasureRequest {
  caller: Caller
  newId: () => string
  repeated: boolean
}

/**
 * Starts the erasure of a project. It may have no model: all its other data is erased too. Projects of traces allow
 * more names than those of models.
 */
export async function eraseProject(deps: ErasureDeps, request: ErasureRequest, project: string): Promise<ErasureRow> {
  if (!isTracedName(project)) throw notFound('Project')
  return erase(deps, request, project)
}

/** Starts the erasure of the caller's entity. */
export async function eraseEntity(deps: ErasureDeps, request: ErasureRequest, entity: string): Promise<ErasureRow> {
  if (entity !== request.caller.entity) throw notFound('Entity')
  return erase(deps, request, null)
}

async function erase(deps: ErasureDeps, { caller, newId, repeated }: ErasureRequest, project: string | null) {
  const { pool, tracing } = deps
  const { entity, keyId } = caller
  const id = newId()
  const earlier = repeated ? await findEarlier(deps, { entity, project }) : undefined
  const erasure = await withInvalidation(
    pool,
    async (connection) => earlier ?? requestErasure(connection, { id, keyId, entity, project }),
  )
  // If this fails, or the process dies before it, the operator does it.
  await closeProjects(tracing, { entity, project, before: erasure.requestedAt })
  return erasure
}

/**
 * Finds the erasure that a retry asked for first. It is only used if it covers everything: newer data would stay.
 * Closes the projects that existed at the first request, in case the first request died before it did.
 */
async function findEarlier({ pool, tracing }: ErasureDeps, scope: ErasureScope): Promise<ErasureRow | undefined> {
  const earlier = await findRecentErasure(pool, scope)
  if (!earlier || (await hasNewer(pool, earlier))) return undefined
  await closeProjects(tracing, { ...scope, before: earlier.requestedAt })
  return (await hasOpenProjects(tracing, scope.entity, scope.project)) ? undefined : earlier
}

export async function getErasure(pool: Pool, entity: string, id: string): Promise<ErasureRow> {
  const erasure = isUuid(id) ? await findErasure(pool, entity, id) : undefined
  if (!erasure) throw notFound('Erasure')
  return erasure
}

/** Lists one erasure more than the limit, which shows whether more follow. */
export async function listOwnErasures(pool: Pool, entity: string, { after, limit }: PageQuery): Promise<ErasureRow[]> {
  const position = await resolveCursor(after, (id) => findErasurePosition(pool, entity, id))
  return listErasures(pool, entity, { after: position, limit: limit + 1 })
}
