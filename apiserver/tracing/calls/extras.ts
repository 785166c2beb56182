import { measureFeedbackOfCalls } from '../../../db/tracing/feedback.ts'
import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { costsOfCalls, type CostDeps } from '../costs/service.ts'
import type { Pool } from '../../../db/pool.ts'
import { feedbackOfCalls } from '../feedback/service.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { Project } from '../projects.ts'
import type { CallExtras } from './present.ts'
import type { CallsQuery } from './query-schema.ts'

// A model takes some hundred bytes; a call uses a handful.
const maxUsageBytes = 64 * 1024

/** By calls, the bytes of the feedback that will be told of them. */
export async function measureFeedback(
  pool: Pool,
  { project, calls, wanted }: { project: Project; calls: StoredCall[]; wanted: CallsQuery },
): Promise<Map<string, number>> {
  if (!wanted.include_feedback) return new Map()
  return measureFeedbackOfCalls(
    pool,
    project.number,
    calls.map(({ id }) => id),
  )
}

/** What was asked for of calls and does not stand in their rows, in their order. */
export async function lookUpExtras(
  deps: CostDeps,
  { project, calls, wanted }: { project: Project; calls: StoredCall[]; wanted: CallsQuery },
): Promise<CallExtras[]> {
  const costs = wanted.include_costs ? await costsOfCalls(deps, project, calls.map(readUsage)) : []
  const ids = calls.map(({ id }) => id)
  const feedback = wanted.include_feedback ? await feedbackOfCalls(deps.pool, project, ids) : undefined
  return calls.map(({ id }, index) => ({
    ...(costs[index] && { costs: costs[index] }),
    ...(feedback && { feedback: feedback.get(id) ?? [] }),
  }))
}

function readUsage({ started_at: startedAt, summary }: StoredCall) {
  const usage = summary?.includes('"usage"') ? findMember(Buffer.from(summary), 'usage') : undefined
  if (!usage || usage.size > maxUsageBytes) return { startedAt, usage: undefined }
  return { startedAt, usage: JSON.parse(usage.toString()) as unknown }
}
