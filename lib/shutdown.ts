import type { Logger } from './log.ts'

/** Names what the shutdown does next. The log of a shutdown that fails or takes too long has the name. */
export type BeginStep = (name: string) => void

/**
 * Runs `close` once on SIGTERM or SIGINT, then exits: with 0 if it ends in time, with 1 if it throws or takes longer
 * than `timeoutMs`.
 */
export function onShutdown(log: Logger, close: (beginStep: BeginStep) => Promise<void>, timeoutMs = 10_000): void {
  let closing = false
  let step: string | undefined
  const beginStep = (name: string) => {
    step = name
    log.debug({ step }, 'shutdown continues')
  }
  const giveUp = () => {
    log.error({ step, timeoutMs }, 'shutdown took too long')
    process.exit(1)
  }
  const shutDown = async (signal: string) => {
    if (closing) return
    closing = true
    log.info({ signal }, 'shutting down')
    setTimeout(giveUp, timeoutMs).unref()
    try {
      await close(beginStep)
      process.exit(0)
    } catch (error) {
      log.error({ error, step }, 'shutdown failed')
      process.exit(1)
    }
  }
  process.on('SIGTERM', (signal) => void shutDown(signal))
  process.on('SIGINT', (signal) => void shutDown(signal))
}
