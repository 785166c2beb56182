import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { createHash } from 'node:crypto'
import { withInvalidation } from '../../../db/changes.ts'
import { deleteCheckpoints, type AliasedStep } from '../../../db/deletion/checkpoints.ts'
import {
  countCheckpoints,
  findCheckpoint,
  findCheckpointStep,
  listCheckpoints,
  type ListedCheckpoint,
  type StoredCheckpoint,
} from '../../../db/checkpoints/checkpoints.ts'
import { findDeletionAnswer, recordDeletion } from '../../../db/deletion/answers.ts'
import type { Pool } from '../../../db/pool.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { countTotal, resolveCursor, type CountedOrderedPageQuery } from '../../../lib/http/page.ts'
import { getModel } from '../models/service.ts'
import type { StepsDeletionAnswer } from './schema.ts'
import { readStepReference } from './steps.ts'

/** What reading checkpoints and their files needs. */
export interface CheckpointDeps {
  artifacts: ArtifactStore
  pool: Pool
}

/** Lists one checkpoint more than the limit, which shows whether more follow. */
export async function listModelCheckpoints(
  pool: Pool,
  entity: string,
  modelId: string,
  { after, limit, order, max_total: maxTotal }: CountedOrderedPageQuery,
): Promise<{ rows: ListedCheckpoint[]; total: number | undefined }> {
  const { id } = await getModel(pool, entity, modelId)
  const step = await resolveCursor(after, (cursor) => findCheckpointStep(pool, id, cursor))
  const rows = await listCheckpoints(pool, id, { after: step, order, limit: limit + 1 })
  return { rows, total: await countTotal(maxTotal, (max) => countCheckpoints(pool, id, max)) }
}

/** Finds a checkpoint of a model. Step 0 is served like any other, but has no files. */
export async function getCheckpoint(
  pool: Pool,
  entity: string,
  modelId: string,
  step: string,
): Promise<StoredCheckpoint> {
  const { id } = await getModel(pool, entity, modelId)
  const checkpoint = await findCheckpoint(pool, id, readStepReference(step))
  if (!checkpoint) throw notFound('Checkpoint')
  return checkpoint
}

/** The steps to delete, and whether the client says that this is a retry. */
export interface WantedDeletion {
  steps: number[]
  repeated: boolean
}

/**
 * Deletes checkpoints by step. Returns the steps that do not exist. @throws {HttpError} 409 if an alias names a step
 */
export async function deleteModelCheckpoints(
  pool: Pool,
  entity: string,
  modelId: string,
  { steps, repeated }: WantedDeletion,
): Promise<StepsDeletionAnswer> {
  const { id } = await getModel(pool, entity, modelId)
  const target = `checkpoints/${id}/${digestSteps(steps)}`
  return withInvalidation(pool, async (connection) => {
    const recorded = repeated ? await findDeletionAnswer<StepsDeletionAnswer>(connection, entity, target) : undefined
    if (recorded) return recorded
    const outcome = await deleteCheckpoints(connection, id, steps)
    if ('aliased' in outcome) throw stepHasAlias(outcome.aliased[0]!)
    const answer = { deleted_count: outcome.deleted.length, not_found_steps: without(steps, outcome.deleted) }
    await recordDeletion(connection, entity, target, answer)
    return answer
  })
}

function stepHasAlias({ step, alias }: AliasedStep): HttpError {
  // OpenAI's SDKs would retry three times.
  const headers = { 'x-should-retry': 'false' }
  const detail = `Step ${step} has the alias ${alias}. Move or delete the alias first. Nothing was deleted.`
  return new HttpError(errors.conflict, detail, { headers })
}

function without(steps: number[], found: number[]): number[] {
  const known = new Set(found)
  return steps.filter((step) => !known.has(step))
}

function digestSteps(steps: number[]): string {
  return createHash('sha256')
    .update(steps.toSorted((a, b) => a - b).join())
    .digest('hex')
}
