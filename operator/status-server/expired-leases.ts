import { recordServing } from '../../db/jobs/report-service.ts'
import { releaseExpiredLeases } from '../../db/jobs/requeue.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import { repeat } from '../../lib/repeat.ts'

const intervalMs = 1_000

interface Deps {
  pool: Pool
  log: Logger
  /** Whether this server takes reports. */
  isServing: () => Promise<boolean>
  afterRelease: () => void
}

/**
 * Once a second, says that this server takes reports, releases the jobs of trainers without a heartbeat, and calls
 * `afterRelease`. Several servers can do so at once. Returns a function that ends it and resolves when nothing is running.
 */
export function startReleasingLeases({ pool, log, isServing, afterRelease }: Deps): () => Promise<void> {
  const stop = new AbortController()
  let failing = false
  const release = async () => {
    if (await isServing()) await recordServing(pool)
    for (const job of await releaseExpiredLeases(pool)) log.warn({ job }, 'lease ran out')
    failing = false
    afterRelease()
  }
  const onError = (error: unknown) => {
    // One line per outage, not one per second.
    if (!failing) log.warn({ error }, 'releasing expired leases failed')
    failing = true
  }
  const running = repeat(release, { pauseMs: intervalMs, pauseFirst: true, signal: stop.signal, onError })
  return async () => {
    stop.abort()
    await running
  }
}
