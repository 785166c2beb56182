import { measureFeedbackOfCalls } from '../../../db/tracing/feedback.ts'
import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { costsOfCalls, type CostDeps } from '../costs/service.ts'
import type { Pool } from '../../../db/pool.ts'
import { feedbackOfCalls } from '../feedback/service.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { Project } from '../projects.ts'
import type { CostsAndFeedback } from './present.ts'
import type { CallsQuery } from './query-schema.ts'

// The usage of a model takes some hundred bytes. A call uses a handful of models.
const maxUsageBytes = 64 * 1024

/** Measures the feedback that the answer will contain. The keys are call ids, the values bytes. */
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

/** Looks up what the request asks for and the calls' rows do not contain, in the order of the calls. */
export async function findCostsAndFeedback(
  deps: CostDeps,
  { project, calls, wanted }: { project: Project; calls: StoredCall[]; wanted: CallsQuery },
): Promise<CostsAndFeedback[]> {
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
