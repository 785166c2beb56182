import type { ServerResponse } from 'node:http'
import type Koa from 'koa'

/** How long the server waits for a client that reads its answer slowly or not at all. */
export interface AnswerTimes {
  /** For a client that reads nothing although data is ready. */
  stallMs: number
  /** How fast a client must read an answer that is complete and waits in memory. */
  minBytesPerSecond: number
}

/**
 * Ends answers whose client reads nothing for a while although data is ready. Such a client is gone, or blocks what its
 * answer needs (a file, an engine's stream, a query) for nothing. Waits for clients that read slowly, and for answers
 * without data yet.
 *
 * Once an answer is complete and waits in memory, it has a deadline that depends on its size.
 */
export function endStalledAnswers(times: AnswerTimes): Koa.Middleware {
  return async ({ res }, next) => {
    // Any byte on the connection restarts the timer.
    res.setTimeout(times.stallMs, () => res.writableLength > 0 && res.destroy())
    res.once('prefinish', () => res.writableLength > 0 && endLater(res, res.writableLength, times))
    await next()
  }
}

/** Ends an answer if its client has not received it within the time for this number of bytes. */
export function endLater(res: ServerResponse, bytes: number, { stallMs, minBytesPerSecond }: AnswerTimes): void {
  const deadline = setTimeout(() => res.destroy(), stallMs + (1_000 * bytes) / minBytesPerSecond)
  res.once('close', () => clearTimeout(deadline))
}
