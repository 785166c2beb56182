import type { LimitsInUse } from './service.ts'

export function presentLimits({ entity, limits, queuedJobs, storedBytes, gpuSecondsToday, pauses }: LimitsInUse) {
  return {
    entity,
    requests_per_minute: presentLimit(limits.requestsPerMinute),
    tokens_per_minute: presentLimit(limits.tokensPerMinute),
    concurrent_streams: presentLimit(limits.concurrentStreams),
    event_streams: presentLimit(limits.eventStreams),
    queued_jobs: presentLimit(limits.queuedJobs),
    stored_bytes: presentLimit(limits.storedBytes),
    gpu_seconds_per_day: presentLimit(limits.gpuSecondsPerDay),
    payload_days: presentLimit(limits.payloadDays),
    run_days: presentLimit(limits.runDays),
    weight: limits.weight,
    token_statistics: limits.tokenStatistics,
    trace_project: limits.traceProject,
    paused: pauses.byEntity,
    paused_by_administrator: pauses.byAdministrator,
    in_use: { queued_jobs: queuedJobs, stored_bytes: storedBytes, gpu_seconds_today: gpuSecondsToday },
  }
}

function presentLimit(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null
}
