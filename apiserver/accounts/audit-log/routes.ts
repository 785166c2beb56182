import { findActPosition, listActs } from '../../../db/accounts/audit-log.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RestApi } from '../rest-api.ts'
import { listOf, presentPage, resolveCursor } from '../../../lib/http/page.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { presentAct } from './present.ts'
import { actSchema, auditQuerySchema } from './schema.ts'

/** Routes for reading the log. No operation changes or removes its entries. */
export function routeAuditLog(api: RestApi, pool: Pool): void {
  api.get(
    '/v1/preview/audit-log',
    {
      tag: 'Keys',
      role: 'admin',
      summary: 'List the audit log',
      description:
        'Administrative acts: keys created, rotated or revoked, limits and retention set, erasures requested, ' +
        'webhooks changed. `actor` is the id of a key, or `command`. The time range includes `from` and excludes ' +
        '`to`.',
      query: auditQuerySchema,
      answer: listOf(actSchema),
    },
    async ({ caller: { entity }, query }) => {
      const { action, order, limit } = query
      const after = await resolveCursor(query.after, (id) => findActPosition(pool, entity, id))
      const from = query.from === undefined ? undefined : parseTime(query.from)
      const to = query.to === undefined ? undefined : parseTime(query.to)
      const rows = await listActs(pool, entity, { action, order, from, to, after, limit: limit + 1 })
      return presentPage(rows, limit, presentAct)
    },
  )
}
