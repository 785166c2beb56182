import type Koa from 'koa'

/**
 * Ends answers of which the client takes nothing for so long while there is something for it: it has left without a
 * word, or holds what its answer needs (a file, an engine's stream, a query) for no use. One that takes little by little
 * is waited for, and one for which nothing is there yet as well.
 */
export function endStalledAnswers(stallMs: number): Koa.Middleware {
  return async ({ res }, next) => {
    // Any byte that goes over the connection begins the time anew.
    res.setTimeout(stallMs, () => res.writableLength > 0 && res.destroy())
    await next()
  }
}
