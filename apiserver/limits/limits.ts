import type { EntityLimits } from '../../db/queries/entities.ts'
import type { Config } from '../config.ts'

/** What holds for an entity: what was set for it, else the installation's default; null is no limit. */
export function applyDefaults<T extends Partial<EntityLimits>>(set: T, config: Config): T {
  const defaults = defaultLimits(config)
  const entries = Object.entries(set) as [keyof EntityLimits, EntityLimits[keyof EntityLimits]][]
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? defaults[name]])) as T
}

function defaultLimits(config: Config): EntityLimits {
  return {
    requestsPerMinute: config.TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE ?? null,
    concurrentStreams: config.TRAINYARD_DEFAULT_CONCURRENT_STREAMS ?? null,
    queuedJobs: config.TRAINYARD_DEFAULT_QUEUED_JOBS ?? null,
    storedBytes: config.TRAINYARD_DEFAULT_STORED_BYTES ?? null,
    // Payloads are kept unless somebody said otherwise.
    payloadDays: null,
    tokenStatistics: 'sampled',
  }
}
