import { Type } from 'typebox'

// Points of the request limiter are a Postgres integer, and so are days.
export const largestInteger = 2_147_483_647
/** The name of no limit, where people write limits. */
export const noLimit = 'none'

function limit(usual: number, maximum = largestInteger) {
  return Type.Union([Type.Integer({ minimum: 0, maximum }), Type.Literal(noLimit)], { default: usual })
}

/**
 * What an entity may use for which nothing was set (`npm run limits`). It is far more than a team needs, and bounds what one
 * whose programs run wild takes from the others.
 */
export const limitSettings = {
  TRAINYARD_DEFAULT_REQUESTS_PER_MINUTE: limit(60_000),
  TRAINYARD_DEFAULT_CONCURRENT_STREAMS: limit(2_048),
  TRAINYARD_DEFAULT_EVENT_STREAMS: limit(2_048),
  TRAINYARD_DEFAULT_QUEUED_JOBS: limit(20_000),
  TRAINYARD_DEFAULT_STORED_BYTES: limit(1024 ** 4, Number.MAX_SAFE_INTEGER),
  TRAINYARD_DEFAULT_WEIGHT: Type.Number({ minimum: 1, maximum: 100, default: 1 }),
}
