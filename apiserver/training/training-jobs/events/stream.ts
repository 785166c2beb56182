import type { EventRow } from '../../../../db/jobs/events.ts'
import type { EventHub } from './hub.ts'
import { isTerminal, type EventPosition } from './service.ts'
import { presentEvent } from '../present.ts'

// Proxies close silent connections after a minute, many after 30 s.
const heartbeatMs = 15_000
// A client that lost its stream reconnects after this time. If all did so at once, it would be a burst.
const minRetryMs = 500
const retrySpreadMs = 1_000

/**
 * Streams a job's events as server-sent events: `id` (to continue after an interruption), `event` (the type) and `data`
 * (the event as in the list). It ends after the last event. When the process ends, it tells the client to reconnect.
 * Nothing is read before the consumer needs it.
 */
export async function* streamEvents(
  hub: EventHub,
  { jobId, turn, after, ended }: EventPosition,
  left: AbortSignal,
): AsyncGenerator<string> {
  const follower = hub.follow({ jobId, turn, after, patient: true, left })
  try {
    yield hint()
    if (ended) return
    while (!follower.gone) {
      const events = await follower.next(heartbeatMs)
      yield events.length > 0 ? events.map(presentServerSentEvent).join('') : ': heartbeat\n\n'
      if (events.some(isTerminal)) return
    }
    yield `: closing\n${hint()}`
  } finally {
    follower.leave()
  }
}

function hint(): string {
  return `retry: ${minRetryMs + Math.round(Math.random() * retrySpreadMs)}\n\n`
}

function presentServerSentEvent(event: EventRow): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`
}
