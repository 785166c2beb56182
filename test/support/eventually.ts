import { setTimeout as delay } from 'node:timers/promises'

/**
 * Calls `read` until it returns without throwing. After `timeoutMs` it throws the last error. Tests wait for a fact
 * with this, never for a time.
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
