import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { keyOf } from '../../../artifacts/layout.ts'
import { resourceName } from '../../../crds/names.ts'
import { findBaseModel, type BaseModelRow } from '../../../db/base-models/base-models.ts'
import { findCheckpoint, type StoredCheckpoint } from '../../../db/checkpoints/checkpoints.ts'
import { insertFork, type NewFork } from '../../../db/models/forks.ts'
import { findModelByName, type ModelRow } from '../../../db/models/models.ts'
import { artifactKey, artifactUri } from '../../../artifacts/store/keys.ts'
import { sumSizes } from '../../../artifacts/store/sum-sizes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { requireStorage, type LimitDeps } from '../../accounts/limits/service.ts'
import type { Caller } from '../../accounts/context.ts'
import { createResource, nameModel, nameTaken, type ResourceDeps } from './create-resource.ts'
import type { ForkBody } from './schema.ts'
import { getModel } from './service.ts'

/** What creating forks needs. */
export interface ForkDeps extends LimitDeps, ResourceDeps {
  artifacts: ArtifactStore
}

interface ForkRequest {
  caller: Caller
  newId: () => string
  modelId: string
}

/**
 * Creates a model that starts from a step of another model. Its checkpoint is a copy with its own id, made before any
 * row names it. A crash leaves unreferenced files, which garbage collection removes.
 */
export async function forkModel(deps: ForkDeps, request: ForkRequest, wanted: ForkBody): Promise<string> {
  const source = await getModel(deps.pool, request.caller.entity, request.modelId)
  const checkpoint = await findSource(deps.pool, source, wanted.step ?? undefined)
  const baseModel = await requireServed(deps.pool, source)
  const fork = describeFork(request, source, { checkpoint, wanted })
  const known = await findModelByName(deps.pool, fork)
  // An earlier run of the same request created it and then died.
  if (known?.id === fork.id) return fork.id
  if (known) throw nameTaken(fork, 'give the fork another name')
  if (checkpoint) await requireStorage(deps, fork.entity, () => sumSizes(deps.artifacts, artifactKey(checkpoint.uri)!))
  await copyCheckpoint(deps, checkpoint, fork)
  await createResource(deps, { ...fork, createdAt: new Date(), hiddenAt: null }, baseModel)
  return fork.id
}

/** Copies the files, then inserts the rows. If there are no rows, removes the files again. */
async function copyCheckpoint(
  { artifacts, pool }: Pick<ForkDeps, 'artifacts' | 'pool'>,
  checkpoint: StoredCheckpoint | undefined,
  fork: NewFork,
): Promise<void> {
  const target = fork.copy && artifactKey(fork.copy.uri)!
  if (checkpoint && target) {
    const source = artifactKey(checkpoint.uri)!
    // The source's optimizer state is removed once there is a newer step. That may happen during the copy.
    await artifacts.copyAll(source, target).catch(() => artifacts.copyAll(source, target))
  }
  const outcome = await insertFork(pool, fork)
  if (outcome === 'made') return
  // An earlier run of the same request was only slow: the files belong to it.
  if (outcome === 'taken' && (await findModelByName(pool, fork))?.id === fork.id) return
  if (target) await artifacts.removeAll(target)
  throw outcome === 'gone' ? notFound('Checkpoint') : nameTaken(fork, 'give the fork another name')
}

function describeFork(
  { caller, newId }: ForkRequest,
  source: ModelRow,
  { checkpoint, wanted }: { checkpoint: StoredCheckpoint | undefined; wanted: ForkBody },
): NewFork {
  const [id, copyId] = [newId(), newId()]
  const name = nameModel(id, caller.entity, { project: wanted.project ?? source.project, name: wanted.name })
  return {
    ...name,
    id,
    keyId: caller.keyId,
    baseModel: source.baseModel,
    namespace: source.namespace,
    crName: resourceName(name.name, id),
    resourceCreatedAt: null,
    retention: null,
    lastStep: checkpoint?.step ?? 0,
    forkedFromCheckpoint: checkpoint?.id ?? null,
    forkedFromModel: source.id,
    forkedFromStep: checkpoint?.step ?? 0,
    copy: checkpoint ? { id: copyId, uri: artifactUri(keyOf('checkpoint', { checkpoint: copyId })) } : null,
  }
}

/** The requested step, or the newest one. Undefined means step 0. */
async function findSource(pool: Pool, { id }: ModelRow, step?: number): Promise<StoredCheckpoint | undefined> {
  if (step === 0) return undefined
  const checkpoint = await findCheckpoint(pool, id, step === undefined ? 'latest' : { step })
  if (checkpoint || step === undefined) return checkpoint
  throw unprocessable(valueError(['body', 'step'], 'the model has no checkpoint for this step'))
}

async function requireServed(pool: Pool, { baseModel }: ModelRow): Promise<BaseModelRow> {
  const found = await findBaseModel(pool, baseModel)
  if (found) return found
  throw new HttpError(errors.conflict, `The base model ${baseModel} is no longer served.`)
}
