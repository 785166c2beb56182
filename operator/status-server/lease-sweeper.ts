import { sweepExpiredLeases } from '../../db/queries/job-endings.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'

const intervalMs = 1_000

/**
 * Each second: releases the jobs of trainers that fell silent, then calls `afterSweep`. Several servers may do so at
 * once. Returns what stops it, once the sweep under way has ended.
 */
export function startLeaseSweeper(pool: Pool, log: Logger, afterSweep: () => void): () => Promise<void> {
  let failing = false
  let running = Promise.resolve()
  const sweep = async () => {
    try {
      for (const job of await sweepExpiredLeases(pool)) log.warn({ job }, 'lease ran out')
      failing = false
      afterSweep()
    } catch (error) {
      // One line per outage, not one per second.
      if (!failing) log.warn({ error }, 'sweeping leases failed')
      failing = true
    }
  }
  let timer = setTimeout(next, intervalMs)
  let stopped = false
  function next() {
    running = sweep().finally(() => {
      if (!stopped) timer = setTimeout(next, intervalMs)
    })
  }
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
