import type { Pool } from '../../../db/pool.ts'
import type { RestApi } from '../rest-api.ts'
import { listOf, presentPage } from '../../../lib/http/page.ts'
import { presentUsage } from './present.ts'
import { usageQuerySchema, usageSchema } from './schema.ts'
import { readGroupBy, reportUsage } from './service.ts'

export function routeUsage(api: RestApi, pool: Pool): void {
  api.get(
    '/v1/preview/usage',
    {
      tag: 'Usage',
      summary: 'Get the usage by project, model, key, hour or day',
      description:
        'Tokens and requests of chats; tokens, seconds and GPU seconds of training. The hours are those from ' +
        '`from` (default: 30 days before `to`) to `to` (default: now). Usage of a chat appears about a second ' +
        'after it.',
      role: 'member',
      query: usageQuerySchema,
      answer: listOf(usageSchema),
      errorStatuses: [404, 409],
    },
    async ({ caller, query }) => {
      const groupBy = readGroupBy(query)
      const rows = await reportUsage(pool, caller.entity, query)
      return presentPage(rows, query.limit, (row) => presentUsage(row, groupBy))
    },
  )
}
