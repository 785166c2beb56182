import type { ServerResponse } from 'node:http'
import type Koa from 'koa'

/** How long an answer is waited for that its client takes slowly, or not at all. */
export interface AnswerTimes {
  /** For a client that takes nothing of what is there. */
  stallMs: number
  /** What a client takes of a whole answer, which is in memory until then, at the least. */
  minBytesPerSecond: number
}

/**
 * Ends answers of which the client takes nothing for so long while there is something for it: it has left without a
 * word, or holds what its answer needs (a file, an engine's stream, a query) for no use. One that takes little by little
 * is waited for, and one for which nothing is there yet as well.
 *
 * When all of an answer is there, and waits in memory for its client, there is a deadline, which comes with its size.
 */
export function endStalledAnswers(times: AnswerTimes): Koa.Middleware {
  return async ({ res }, next) => {
    endStalledAnswer(res, times)
    await next()
  }
}

/** The same for one answer. */
export function endStalledAnswer(res: ServerResponse, times: AnswerTimes): void {
  // Any byte that goes over the connection begins the time anew.
  res.setTimeout(times.stallMs, () => res.writableLength > 0 && res.destroy())
  res.once('prefinish', () => res.writableLength > 0 && endLater(res, res.writableLength, times))
}

/** Ends an answer that its client has not taken in the time for so many bytes. */
export function endLater(res: ServerResponse, bytes: number, { stallMs, minBytesPerSecond }: AnswerTimes): void {
  const deadline = setTimeout(() => res.destroy(), stallMs + (1_000 * bytes) / minBytesPerSecond)
  res.once('close', () => clearTimeout(deadline))
}
