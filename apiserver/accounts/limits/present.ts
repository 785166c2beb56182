import type { LimitsInUse } from './service.ts'

export function presentLimits({ entity, limits, queuedJobs, storedBytes }: LimitsInUse) {
  return {
    entity,
    requests_per_minute: presentLimit(limits.requestsPerMinute),
    tokens_per_minute: presentLimit(limits.tokensPerMinute),
    concurrent_streams: presentLimit(limits.concurrentStreams),
    event_streams: presentLimit(limits.eventStreams),
    queued_jobs: presentLimit(limits.queuedJobs),
    stored_bytes: presentLimit(limits.storedBytes),
    payload_days: presentLimit(limits.payloadDays),
    run_days: presentLimit(limits.runDays),
    weight: limits.weight,
    token_statistics: limits.tokenStatistics,
    trace_project: limits.traceProject,
    in_use: { queued_jobs: queuedJobs, stored_bytes: storedBytes },
  }
}

function presentLimit(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null
}
