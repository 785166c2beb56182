import { releaseExpiredLeases } from '../../db/jobs/requeue.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import { repeat } from '../../lib/repeat.ts'

const intervalMs = 1_000

/**
 * Each second: releases the jobs of trainers that fell silent, then calls `afterSweep`. Several servers may do so at
 * once. Returns what stops it, once the sweep under way has ended.
 */
export function startLeaseSweeper(pool: Pool, log: Logger, afterSweep: () => void): () => Promise<void> {
  const stop = new AbortController()
  let failing = false
  const sweep = async () => {
    for (const job of await releaseExpiredLeases(pool)) log.warn({ job }, 'lease ran out')
    failing = false
    afterSweep()
  }
  const onError = (error: unknown) => {
    // One line per outage, not one per second.
    if (!failing) log.warn({ error }, 'sweeping leases failed')
    failing = true
  }
  const running = repeat(sweep, { pauseMs: intervalMs, pauseFirst: true, signal: stop.signal, onError })
  return async () => {
    stop.abort()
    await running
  }
}
