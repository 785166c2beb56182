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

/** Reads a value until it has been the same for `stillMs`, and returns it. */
export async function waitUntilStill<T>(read: () => Promise<T> | T, stillMs = 1_000): Promise<T> {
  for (let before = await read(); ;) {
    await delay(stillMs)
    const now = await read()
    if (now === before) return now
    before = now
  }
}
