import { readPurgeIds } from '../query/purge-ids.ts'
import { purgeSchema, rowsQuerySchema } from '../query/schema.ts'
import { emptySchema } from '../schema.ts'
import { sendChunks, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray } from '../write-list.ts'
import { queryCosts } from './query.ts'
import { costCreateSchema, costIdsSchema, costRowsSchema } from './schema.ts'
import { createCosts, purgeCosts } from './service.ts'

const tag = 'Costs'

/** What a project pays for tokens of models. */
export function routeCosts(api: TraceApi, deps: QueryDeps): void {
  api.post(
    '/cost/create',
    {
      tag,
      summary: 'Say what tokens of models cost',
      description: 'From a date on, or from now on. Calls with `include_costs` have the cost that was in effect then.',
      body: costCreateSchema,
      answer: costIdsSchema,
    },
    async ({ caller, body: { project_id: projectId, costs } }) => {
      const project = await deps.projects.open(caller, projectId)
      return { ids: await createCosts(deps.pool, project, { costs, createdBy: caller.keyId }) }
    },
  )

  api.post(
    '/cost/query',
    { tag, summary: "Find a project's costs", role: 'read', body: rowsQuerySchema, answer: costRowsSchema },
    async ({ ctx, caller, body }) => {
      const rows = queryCosts(deps.pool, await deps.projects.find(caller, body.project_id), body)
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"results":', rows, '}') })
    },
  )

  api.post(
    '/cost/purge',
    {
      tag,
      summary: 'Remove costs for good',
      description:
        'By ids only: `$eq` of the field id and a text, a `$or` of such, or `$in` of the field id and texts.',
      body: purgeSchema,
      answer: emptySchema,
    },
    async ({ caller, body }) => {
      const ids = readPurgeIds(body.query.$expr, { takesIn: true })
      await purgeCosts(deps.pool, await deps.projects.find(caller, body.project_id), ids)
      return {}
    },
  )
}
