import type { Static, TObject } from 'typebox'
import { tracesOff, type EntityLimits, type SetLimits } from '../../../db/accounts/limits.ts'
import { readLimit } from '../../../lib/limit-setting.ts'
import type { limitSettings } from './settings.ts'

/** The default limits in a process's configuration. */
export type LimitDefaults = Static<TObject<typeof limitSettings>>

/** The limits of an entity: what was set for it, else the installation's default. Infinity means unlimited. */
export function applyDefaults<Name extends keyof EntityLimits>(
  set: Pick<SetLimits, Name>,
  config: LimitDefaults,
): Pick<EntityLimits, Name> {
  const defaults = readDefaults(config)
  const names = Object.keys(set) as Name[]
  return Object.fromEntries(names.map((name) => [name, set[name] ?? defaults[name]])) as Pick<EntityLimits, Name>
}

function readDefaults(config: LimitDefaults): EntityLimits {
  return {
    requestsPerMinute: readLimit(config.TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE),
    tokensPerMinute: readLimit(config.TRAINYARD_DEFAULT_TOKENS_PER_MINUTE),
    concurrentStreams: readLimit(config.TRAINYARD_DEFAULT_CONCURRENT_STREAMS),
    eventStreams: readLimit(config.TRAINYARD_DEFAULT_EVENT_STREAMS),
    queuedJobs: readLimit(config.TRAINYARD_DEFAULT_QUEUED_JOBS),
    storedBytes: readLimit(config.TRAINYARD_DEFAULT_STORED_BYTES),
    gpuSecondsPerDay: readLimit(config.TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY),
    // Payloads and runs are kept forever by default.
    payloadDays: Infinity,
    runDays: Infinity,
    weight: config.TRAINYARD_DEFAULT_WEIGHT,
    tokenStatistics: 'sampled',
    traceProject: tracesOff,
  }
}
