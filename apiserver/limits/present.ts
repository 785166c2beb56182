import type { LimitsInUse } from './service.ts'

export function presentLimits({ entity, limits, queuedJobs, storedBytes }: LimitsInUse) {
  return {
    entity,
    requests_per_minute: limits.requestsPerMinute,
    concurrent_streams: limits.concurrentStreams,
    queued_jobs: limits.queuedJobs,
    stored_bytes: limits.storedBytes,
    payload_days: limits.payloadDays,
    token_statistics: limits.tokenStatistics,
    in_use: { queued_jobs: queuedJobs, stored_bytes: storedBytes },
  }
}
