import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { registerGauge } from '../../lib/metrics/computed.ts'
import { shareCheck } from '../../lib/shared-check.ts'
import { operatorMetrics } from './table.ts'

// Whoever reaches the port can ask the volume once in this time.
const keepMs = 10_000
// A volume that does not answer must not hide the other metrics.
const timeoutMs = 2_000

/** Registers the room in the volume of the artifact store. */
export function registerStoreMetrics(registry: Registry, address: string): void {
  const measure = shareCheck(() => statfs(address), keepMs)
  registerGauge(registry, operatorMetrics.gauges.storeBytes, async () => {
    if (!address.startsWith('/')) return []
    const late = delay(timeoutMs, undefined, { ref: false })
    const disk = await Promise.race([measure(), late]).catch(() => undefined)
    if (!disk) return []
    const { bsize, blocks, bavail } = disk
    return [
      { labels: { state: 'free' }, value: bavail * bsize },
      { labels: { state: 'used' }, value: (blocks - bavail) * bsize },
    ]
  })
}
