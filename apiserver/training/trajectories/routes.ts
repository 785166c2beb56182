import { Readable } from 'node:stream'
import type { RestApi } from '../../accounts/rest-api.ts'
import { startMember } from '../../../lib/json/raw.ts'
import { countedListOf, presentPage, withTotal } from '../../../lib/http/page.ts'
import { presentTrajectory } from './present.ts'
import { matchesQuery, matchesSchema, trajectoryListQuery, trajectoryRowSchema, trajectorySchema } from './schema.ts'
import { searchTrajectories, type SearchDeps } from './search/service.ts'
import { readCaptured, type CapturedDeps } from './read-captured.ts'
import { getTrajectory, listModelTrajectories, openTrajectory } from './service.ts'
import { tokensQuery, tokensSchema } from './tokens/schema.ts'
import { getTokens } from './tokens/service.ts'

const tag = 'Trajectories'
const close = Buffer.from('}')
const path = '/v1/preview/models/{model_id}/trajectories'

export function routeTrajectories(api: RestApi, deps: CapturedDeps & SearchDeps): void {
  api.get(
    path,
    {
      tag,
      summary: 'List the trained and logged trajectories of a model',
      query: trajectoryListQuery,
      answer: countedListOf(trajectoryRowSchema),
    },
    async ({ ctx, params, query }) => {
      const { rows, total } = await listModelTrajectories(deps.pool, ctx.state.caller.entity, params.model_id, query)
      return withTotal(presentPage(rows, query.limit, presentTrajectory), total)
    },
  )

  api.get(
    `${path}/{trajectory_id}`,
    {
      tag,
      summary: 'Get a trajectory as it was sent, byte for byte',
      description: 'A trajectory with captured exchanges also has its `histories`.',
      answer: trajectorySchema,
    },
    async ({ ctx, caller, params }) => {
      const { model, row } = await getTrajectory(deps.pool, caller.entity, params.model_id, params.trajectory_id)
      const histories = await readCaptured(deps, ctx, { model, row })
      const payload = await openTrajectory(deps, row)
      const start = Buffer.from(startMember(JSON.stringify(presentTrajectory(row)), 'trajectory'))
      const end = Buffer.concat(histories ? [Buffer.from(',"histories":'), histories, close] : [close])
      ctx.type = 'application/json'
      ctx.length = start.length + row.payloadLength + end.length
      ctx.body = Readable.from(embed(start, payload, end), { objectMode: false })
    },
  )

  api.get(
    `${path}/{trajectory_id}/tokens`,
    {
      tag,
      summary: 'Read what the loss did to each trained token of a trajectory',
      description:
        'Its rows of the file of token statistics, as columns. `missing` says why there are none: the limit ' +
        '`token_statistics` decides which trajectories have them.',
      query: tokensQuery,
      answer: tokensSchema,
      cost: { permit: 'token_reads' },
    },
    ({ caller, params, query }) =>
      getTokens(deps, caller, { modelId: params.model_id, trajectoryId: params.trajectory_id }, query),
  )

  api.get(
    '/v1/preview/models/{model_id}/trajectory-matches',
    {
      tag,
      summary: 'Search a text in the conversations of a model',
      description:
        'Searches the trajectories that the filter finds, in order of arrival: what messages and answers say, their ' +
        'reasoning and their tool calls. A page says how many it has searched; go on with `after` while it `has_more`.',
      query: matchesQuery,
      answer: matchesSchema,
      cost: { permit: 'trajectory_searches' },
    },
    ({ caller, params, query }) => searchTrajectories(deps, caller, params.model_id, query),
  )
}

/** The payload is passed on without parsing, so its numbers and unknown keys stay as they are. */
async function* embed(start: Buffer, payload: Readable, end: Buffer): AsyncIterable<Buffer> {
  yield start
  yield* payload as AsyncIterable<Buffer>
  yield end
}
