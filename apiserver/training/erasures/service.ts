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
import { waitForLeases } from '../../../db/changes.ts'
import { closeProjects, hasOpenProjects } from '../../../db/erasure/traces.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { resolveCursor, type PageQuery } from '../../../lib/http/page.ts'
import { isTracedName } from '../../accounts/names.ts'

/** The databases that are erased from. */
export interface ErasureDeps {
  pool: Pool
  /** Of traces alone. */
  tracing: Pool
}

interface ErasureRequest {
  caller: Caller
  newId: () => string
  repeated: boolean
}

/** Begins to erase a project. It need not have a model: what else it has goes too, and traces take more names than models do. */
export async function eraseProject(deps: ErasureDeps, request: ErasureRequest, project: string): Promise<ErasureRow> {
  if (!isTracedName(project)) throw notFound('Project')
  return erase(deps, request, project)
}

/** Begins to erase the caller's own entity. */
export async function eraseEntity(deps: ErasureDeps, request: ErasureRequest, entity: string): Promise<ErasureRow> {
  if (entity !== request.caller.entity) throw notFound('Entity')
  return erase(deps, request, null)
}

async function erase(deps: ErasureDeps, { caller, newId, repeated }: ErasureRequest, project: string | null) {
  const { pool, tracing } = deps
  const { entity, keyId } = caller
  const id = newId()
  const earlier = repeated ? await findEarlier(deps, { entity, project }) : undefined
  if (earlier) {
    await waitForLeases(pool)
    return earlier
  }
  await requestErasure(pool, { id, keyId, entity, project })
  const erasure = await findErasure(pool, entity, id)
  if (!erasure) throw new Error('an erasure that was just begun is not there')
  // If this fails, or we die before it, the operator does it.
  await closeProjects(tracing, { entity, project, before: erasure.requestedAt })
  await waitForLeases(pool)
  return erasure
}

/**
 * The erasure that a client asked for whose second try this is: it covers all that there is. What was written since would
 * stay. Of projects, those that were there for it are closed, now if it died before.
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

/** One erasure more than the page holds, so that it shows whether there are more. */
export async function listOwnErasures(pool: Pool, entity: string, { after, limit }: PageQuery): Promise<ErasureRow[]> {
  const position = await resolveCursor(after, (id) => findErasurePosition(pool, entity, id))
  return listErasures(pool, entity, { after: position, limit: limit + 1 })
}
