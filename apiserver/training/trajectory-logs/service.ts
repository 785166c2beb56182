import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import {
  findLog,
  findLogPosition,
  hasLogs,
  insertLog,
  listLogs,
  listLogStatistics,
  type LogRow,
  type LogStatistics,
  type NewLog,
  type SplitStep,
} from '../../../db/trajectories/logs.ts'
import { lockModel } from '../../../db/models/lock.ts'
import { insertTrajectories } from '../../../db/trajectories/trajectories.ts'
import { withTransaction, type Pool } from '../../../db/pool.ts'
import type { Caller } from '../../accounts/context.ts'
import { storeBody, type PayloadDeps } from '../ingest/store-body.ts'
import type { ReceivedBody } from '../ingest/receive.ts'
import { invalidCursor, resolveCursor } from '../../../lib/http/page.ts'
import { findModelId } from '../../accounts/model-references.ts'
import { getModel } from '../models/service.ts'
import type { LogListQuery } from './schema.ts'

interface LogRequest {
  caller: Caller
  params: { model_id: string }
  newId: () => string
}

/**
 * Stores groups that are not trained on. The body is stored unchanged, and each of its trajectories is listed from then
 * on.
 *
 * @throws {HttpError} 404 for a model that is not the caller's, 422 for a body that names another model
 */
export async function logTrajectories(
  deps: PayloadDeps,
  request: LogRequest,
  body: ReceivedBody<'log'>,
): Promise<LogRow> {
  const { caller } = request
  const { split, model_id } = body.members
  const model = await getModel(deps.pool, caller.entity, request.params.model_id)
  if (model_id && (await findModelId(deps.pool, caller.entity, model_id)) !== model.id) throw otherModel()
  const { mean: meanReward, min: minReward, max: maxReward, squares: rewardSquares } = body.rewards
  const { groups, trajectories, exceptions, size: payloadBytes } = body
  const rewards = { meanReward, minReward, maxReward, rewardSquares }
  const log = { id: request.newId(), modelId: model.id, keyId: caller.keyId, split, groups, trajectories, exceptions }
  return storeBody(deps, { entity: caller.entity, body }, ({ uri: payloadUri, digest: payloadDigest }) =>
    addLog(deps.pool, { ...log, ...rewards, payloadUri, payloadDigest, payloadBytes }, body),
  )
}

async function addLog(pool: Pool, log: NewLog, body: ReceivedBody): Promise<LogRow> {
  const { id, modelId, split, payloadUri } = log
  return withTransaction(pool, async (connection) => {
    if (!(await lockModel(connection, modelId))) throw notFound('Model')
    const step = await insertLog(connection, log)
    const source = { modelId, logId: id, split, payloadUri }
    if (step !== undefined) await insertTrajectories(connection, { ...source, step }, body.rowBatches)
    const made = await findLog(connection, modelId, id)
    if (!made) throw new Error('a log that was just made is not there')
    return made
  })
}

/** Lists one log more than the limit, which shows whether more follow. */
export async function listModelLogs(
  pool: Pool,
  entity: string,
  modelId: string,
  query: LogListQuery,
): Promise<LogRow[]> {
  const { id } = await getModel(pool, entity, modelId)
  const { split, order } = query
  const after = await resolveCursor(query.after, (cursor) => findLogPosition(pool, { modelId: id, split }, cursor))
  return listLogs(pool, id, { split, order, after, limit: query.limit + 1 })
}

/** Does the same for the statistics per split and step. */
export async function listModelLogStatistics(
  pool: Pool,
  entity: string,
  modelId: string,
  query: LogListQuery,
): Promise<LogStatistics[]> {
  const { id } = await getModel(pool, entity, modelId)
  const { split, order } = query
  const after = query.after === undefined ? undefined : await resolveSplitStep(pool, id, query.after)
  if (after && split !== undefined && after.split !== split) throw invalidCursor()
  return listLogStatistics(pool, id, { split, order, after, limit: query.limit + 1 })
}

async function resolveSplitStep(pool: Pool, modelId: string, cursor: string): Promise<SplitStep> {
  const [, split, digits] = /^([\w./-]{1,64}):(0|[1-9]\d{0,8})$/.exec(cursor) ?? []
  const position = split === undefined ? undefined : { split, step: Number(digits) }
  if (position && (await hasLogs(pool, modelId, position))) return position
  throw invalidCursor()
}

function otherModel() {
  const reason = 'must be the model in the path'
  return unprocessable(valueError(['body', 'model_id'], reason))
}
