import {
  findErasure,
  findErasurePosition,
  findRecentErasure,
  listErasures,
  requestErasure,
  type ErasureRow,
} from '../../../db/queries/erasures.ts'
import { closeProjects } from '../../../db/tracing/erasing.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../middleware/context.ts'
import { notFound } from '../../refusal.ts'
import { isUuid } from '../../validation/compile.ts'
import { resolveCursor, type PageQuery } from '../list.ts'
import { isTracedName } from '../../tracing/projects.ts'

interface ErasureRequest {
  caller: Caller
  newId: () => string
  repeated: boolean
}

/** Begins to erase a project. It need not have a model: what else it has goes too, and traces take more names than models do. */
export async function eraseProject(deps: Deps, request: ErasureRequest, project: string): Promise<ErasureRow> {
  if (!isTracedName(project)) throw notFound('Project')
  return erase(deps, request, project)
}

/** Begins to erase the caller's own entity. */
export async function eraseEntity(deps: Deps, request: ErasureRequest, entity: string): Promise<ErasureRow> {
  if (entity !== request.caller.entity) throw notFound('Entity')
  return erase(deps, request, null)
}

async function erase({ pool, tracing }: Deps, { caller, newId, repeated }: ErasureRequest, project: string | null) {
  const { entity, keyId } = caller
  const id = newId()
  const earlier = repeated ? await findRecentErasure(pool, { entity, project }) : undefined
  if (earlier) return earlier
  await requestErasure(pool, { id, keyId, entity, project })
  const erasure = await findErasure(pool, entity, id)
  if (!erasure) throw new Error('an erasure that was just begun is not there')
  // If this fails, or we die before it, the operator does it.
  await closeProjects(tracing, { entity, project, before: erasure.requestedAt })
  return erasure
}

export async function getErasure({ pool }: Deps, entity: string, id: string): Promise<ErasureRow> {
  const erasure = isUuid(id) ? await findErasure(pool, entity, id) : undefined
  if (!erasure) throw notFound('Erasure')
  return erasure
}

/** One erasure more than the page holds, so that it shows whether there are more. */
export async function listOwnErasures(
  { pool }: Deps,
  entity: string,
  { after, limit }: PageQuery,
): Promise<ErasureRow[]> {
  const position = await resolveCursor(after, (id) => findErasurePosition(pool, entity, id))
  return listErasures(pool, entity, { after: position, limit: limit + 1 })
}
