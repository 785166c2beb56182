import { readPurgeIds } from '../query/purge-ids.ts'
import { purgeSchema, rowsQuerySchema } from '../query/schema.ts'
import { emptySchema } from '../schema.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import type { TraceApi } from '../trace-api.ts'
import { writeArray } from '../write-list.ts'
import { queryCosts } from './query.ts'
import { costCreateSchema, costIdsSchema, costRowsSchema } from './schema.ts'
import { createCosts, purgeCosts } from './service.ts'

const tag = 'Costs'

/** The costs that a project sets for the tokens of models. */
export function routeCosts(api: TraceApi, deps: QueryDeps): void {
  api.post(
    '/cost/create',
    {
      tag,
      summary: 'Set prices of models',
      description:
        'Prices apply from their date, by default from now. Calls queried with `include_costs` have the price of ' +
        'their own time.',
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
    {
      tag,
      summary: 'Find the prices of a project',
      role: 'read',
      body: rowsQuerySchema,
      answer: costRowsSchema,
      cost: streamCost,
    },
    async ({ ctx, caller, body }) => {
      const rows = queryCosts(deps.pool, await deps.projects.find(caller, body.project_id), body)
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"results":', rows, '}') })
    },
  )

  api.post(
    '/cost/purge',
    {
      tag,
      summary: 'Delete prices permanently',
      description:
        'The query must select ids: `$eq` of the field id and a string, an `$or` of these, or `$in` of the field ' +
        'id and strings.',
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
