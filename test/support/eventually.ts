import { setTimeout as delay } from 'node:timers/promises'

/**
 * Calls `read` until it returns without throwing, or throws its last error after `timeoutMs`. It is how tests wait: for
 * a fact to become true, never for a time to pass.
 */
export async function eventually<T>(read: () => Promise<T> | T, timeoutMs = 60_000, intervalMs = 200): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(intervalMs)
    }
  }
}
