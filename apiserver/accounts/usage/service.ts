import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { sumUsage, type UsageDimension, type UsageRow } from '../../../db/accounts/usage-report.ts'
import type { Pool } from '../../../db/pool.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { requireModelId } from '../model-references.ts'
import { decodeGroup } from './group-cursor.ts'
import type { UsageRequest } from './schema.ts'

// Long enough for a month's bill, short enough to be read at once.
const defaultSpanMs = 30 * 86_400_000

/** The requested dimensions, each once. */
export function readGroupBy({ group_by: groupBy }: UsageRequest): UsageDimension[] {
  return groupBy === undefined ? [] : [...new Set(groupBy.split(',') as UsageDimension[])]
}

/** Reads one group more than the limit, which shows whether more follow. */
export async function reportUsage(pool: Pool, entity: string, request: UsageRequest): Promise<UsageRow[]> {
  const groupBy = readGroupBy(request)
  const to = request.to === undefined ? new Date() : parseTime(request.to)!
  const from = request.from === undefined ? new Date(to.getTime() - defaultSpanMs) : parseTime(request.from)!
  return sumUsage(pool, entity, {
    from,
    to,
    groupBy,
    project: request.project,
    modelId: request.model_id === undefined ? undefined : await requireModelId(pool, entity, request.model_id),
    keyId: request.key_id,
    after: request.after === undefined ? undefined : readCursor(request.after, groupBy),
    limit: request.limit + 1,
  })
}

function readCursor(after: string, groupBy: UsageDimension[]): string[] {
  const group = decodeGroup(after, groupBy.length)
  if (group) return group
  const reason = 'must be the id of an item of this list'
  throw unprocessable(valueError(['query', 'after'], reason))
}
