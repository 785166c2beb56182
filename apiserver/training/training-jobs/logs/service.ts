import { hasLogLine, listJobLog, type LinePosition, type LogLine } from '../../../../db/jobs/logs.ts'
import type { QueueDeps } from '../../../../db/jobs/queue-blocks.ts'
import { invalidCursor } from '../../../../lib/http/page.ts'
import { getTrainingJob } from '../service.ts'
import type { LogListQuery } from '../schema.ts'

// The attempt and number of a line, as in the id of presentLogLine. Both are Postgres integers.
const idPattern = /^(\d{1,9})-(\d{1,10})$/
const maxInteger = 2_147_483_647

/** Lists one line of an attempt's log more than the limit, which shows whether more follow. */
export async function listLogOfJob(
  deps: QueueDeps,
  entity: string,
  { jobId, query }: { jobId: string; query: LogListQuery },
): Promise<LogLine[]> {
  const job = await getTrainingJob(deps, entity, jobId)
  const attempt = query.attempt ?? job.attempt
  const after = query.after === undefined ? undefined : parseId(query.after, attempt)
  if (after && !(await hasLogLine(deps.pool, job.id, after))) throw invalidCursor()
  return listJobLog(deps.pool, job.id, { attempt, after, order: query.order, limit: query.limit + 1 })
}

function parseId(id: string, attempt: number): LinePosition {
  const [, ofAttempt, seq] = idPattern.exec(id) ?? []
  if (Number(ofAttempt) !== attempt || Number(seq) > maxInteger) throw invalidCursor()
  return { attempt, seq: Number(seq) }
}
