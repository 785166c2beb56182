import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Readable } from 'node:stream'
import {
  findTrajectory,
  findTrajectoryPosition,
  countTrajectories,
  listTrajectories,
  type TrajectoryFilter,
  type TrajectoryRow,
} from '../../../db/trajectories/trajectories.ts'
import { artifactKey } from '../../../artifacts/store/keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ModelRow } from '../../../db/models/models.ts'
import type { Pool } from '../../../db/pool.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { Logger } from '../../../lib/log.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { cleanScenario } from '../ingest/index-row.ts'
import { countTotal, resolveCursor } from '../../../lib/http/page.ts'
import { getModel } from '../models/service.ts'
import type { TrajectoryFilterQuery, TrajectoryListQuery } from './schema.ts'

/** What reading trajectories needs. */
export interface TrajectoryDeps {
  artifacts: ArtifactStore
  log: Logger
  pool: Pool
}

/** Lists one trajectory more than the limit, which shows whether more follow. */
export async function listModelTrajectories(
  pool: Pool,
  entity: string,
  modelId: string,
  query: TrajectoryListQuery,
): Promise<{ rows: TrajectoryRow[]; total: number | undefined }> {
  const { id } = await getModel(pool, entity, modelId)
  const { sort, order, limit, max_total: maxTotal } = query
  requireBound(query)
  const after = await resolveCursor(query.after, (cursor) => findTrajectoryPosition(pool, id, cursor, sort))
  const filter = readFilter(query)
  const rows = await listTrajectories(pool, id, filter, { sort, after, order, limit: limit + 1 })
  return { rows, total: await countTotal(maxTotal, (max) => countTrajectories(pool, id, filter, max)) }
}

/**
 * A list in the order of a number reads everything that the filter finds.
 *
 * @throws {HttpError} 422 if that can be all of the model
 */
function requireBound({ sort, step, job_id, prompt_hash }: TrajectoryListQuery): void {
  if (sort === 'arrival' || [step, job_id, prompt_hash].some((value) => value !== undefined)) return
  throw unprocessable(valueError(['query', 'sort'], 'needs step, job_id or prompt_hash'))
}

export function readFilter(query: TrajectoryFilterQuery): TrajectoryFilter {
  return {
    split: query.split,
    step: query.step,
    jobId: query.job_id,
    scenarioId: query.scenario_id === undefined ? undefined : cleanScenario(query.scenario_id),
    promptHash: query.prompt_hash,
    minReward: query.min_reward,
    maxReward: query.max_reward,
    flag: query.flag,
    minPush: query.min_push,
    maxPush: query.max_push,
  }
}

/** Finds a trajectory of an entity's models, with its model. */
export async function getTrajectory(
  pool: Pool,
  entity: string,
  modelId: string,
  id: string,
): Promise<{ model: ModelRow; row: TrajectoryRow }> {
  const model = await getModel(pool, entity, modelId)
  const row = isUuid(id) ? await findTrajectory(pool, model.id, id) : undefined
  if (!row) throw notFound('Trajectory', id)
  return { model, row }
}

/**
 * Opens the original bytes of a trajectory.
 *
 * @throws {HttpError} 404 if the payload was removed
 */
export async function openTrajectory(
  { artifacts, log }: Pick<TrajectoryDeps, 'artifacts' | 'log'>,
  row: TrajectoryRow,
): Promise<Readable> {
  const { payloadUri, payloadOffset: start, payloadLength } = row
  try {
    return await artifacts.open(artifactKey(payloadUri)!, { start, end: start + payloadLength - 1 })
  } catch (error) {
    if (error instanceof ArtifactMissing)
      throw new HttpError(errors.not_found, 'The payload of this trajectory is no longer stored.')
    log.error({ error }, 'payload not read')
    throw new HttpError(
      errors.store_unavailable,
      'The trajectory could not be read, because the artifact store does not respond. Send this request again later.',
      { retryAfterSeconds: 10 },
    )
  }
}
