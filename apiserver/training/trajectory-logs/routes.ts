import type { RestApi } from '../../accounts/rest-api.ts'
import { bodySchemas } from '../ingest/shapes.ts'
import { receiveTrajectories, type ReceiveDeps } from '../ingest/receive.ts'
import { listOf, presentPage } from '../../../lib/http/page.ts'
import { presentLog, presentLogMade, presentLogStatistics } from './present.ts'
import { logListQuery, logMadeSchema, logSchema, logStatisticsSchema } from './schema.ts'
import { listModelLogs, listModelLogStatistics, logTrajectories } from './service.ts'

const tag = 'Trajectories'
const path = '/v1/preview/models/{model_id}/log'

export function routeLogs(api: RestApi, deps: ReceiveDeps): void {
  api.post(
    path,
    {
      tag,
      summary: 'Log trajectories of a model without training on them',
      description: 'A missing model is a 404 before the body is read.',
      idempotent: 'handler',
      cost: { permit: 'uploads' },
      streamedBody: { 'application/json': bodySchemas.log },
      answer: logMadeSchema,
    },
    (request) =>
      receiveTrajectories(deps, request, 'log', async (body) =>
        presentLogMade(await logTrajectories(deps, request, body)),
      ),
  )

  api.get(
    path,
    { tag, summary: 'List the logs of a model, in order', query: logListQuery, answer: listOf(logSchema) },
    async ({ caller, params, query }) => {
      const rows = await listModelLogs(deps.pool, caller.entity, params.model_id, query)
      return presentPage(rows, query.limit, presentLog)
    },
  )

  api.get(
    `${path}/statistics`,
    {
      tag,
      summary: 'Get the rewards of logged trajectories by split and step',
      query: logListQuery,
      answer: listOf(logStatisticsSchema),
    },
    async ({ caller, params, query }) => {
      const rows = await listModelLogStatistics(deps.pool, caller.entity, params.model_id, query)
      return presentPage(rows, query.limit, presentLogStatistics)
    },
  )
}
