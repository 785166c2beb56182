import { setTimeout as delay } from 'node:timers/promises'

/**
 * Does `work` every `intervalMs`, never twice at a time; what it throws is `onError`'s. Returns what stops that, and does
 * the work a last time.
 */
export function repeat(
  intervalMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stop = new AbortController()
  const attempt = () => work().catch(onError)
  const running = (async () => {
    while (!stop.signal.aborted) {
      await delay(intervalMs, undefined, { signal: stop.signal }).catch(() => {})
      if (!stop.signal.aborted) await attempt()
    }
    await attempt()
  })()
  return async () => {
    stop.abort()
    await running
  }
}
