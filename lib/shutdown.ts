import type { Logger } from './log.ts'

/**
 * Runs `close` once on SIGTERM or SIGINT, then exits: with 0 if it ends in time, with 1 if it throws or takes longer
 * than `timeoutMs`.
 */
export function onShutdown(log: Logger, close: () => Promise<void>, timeoutMs = 10_000): void {
  let closing = false
  const shutDown = async (signal: string) => {
    if (closing) return
    closing = true
    log.info({ signal }, 'shutting down')
    setTimeout(() => process.exit(1), timeoutMs).unref()
    try {
      await close()
      process.exit(0)
    } catch (error) {
      log.error({ error }, 'shutdown failed')
      process.exit(1)
    }
  }
  process.on('SIGTERM', (signal) => void shutDown(signal))
  process.on('SIGINT', (signal) => void shutDown(signal))
}
