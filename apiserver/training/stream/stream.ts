import type { Pool } from '../../../db/pool.ts'
import { listChanges, readHead, resumableMs } from '../../../db/webhooks/read-outbox.ts'
import type { ChangeHub } from './hub.ts'
import { formatCursor, presentChange, presentReset, type Cursor } from './present.ts'
import { Subscriber } from './subscriber.ts'
import { follows, followsClosely, type Topics } from './topics.ts'

// Proxies close silent connections after a minute, many after 30 s.
const heartbeatMs = 15_000
// A stream does not last forever, so that clients spread over the servers again. All do not come back at once.
const minLifeMs = 55 * 60_000
const lifeSpreadMs = 10 * 60_000
// A client that has missed more reads everything again.
const maxMissed = 500
const minRetryMs = 500
const retrySpreadMs = 1_000

interface StreamOptions {
  hub: ChangeHub
  pool: Pool
  entity: string
  topics: Topics
  /** Where the client was when its last stream ended. */
  cursor: Cursor | undefined
  /** Aborted when the client has left, or its key is revoked. */
  left: AbortSignal
  /** Resolves if the client may still read. */
  authorize: () => Promise<boolean>
}

/**
 * Streams the changes of an entity as server-sent events. Its clients continue with the `id` of their last event; who
 * has missed too much, or reads too slowly, gets `reset` instead. Nothing is read before the client needs it.
 */
export async function* streamChanges(options: StreamOptions): AsyncGenerator<string> {
  const { hub, entity, topics, left } = options
  const subscriber = new Subscriber(entity, topics)
  const end = () => subscriber.end()
  left.addEventListener('abort', end)
  if (left.aborted) end()
  try {
    const head = await hub.follow(subscriber)
    yield retryHint() + idOnly(head)
    const sent = yield* catchUp(options, head)
    yield* followOn(options, subscriber, sent)
    yield `: closing\n${retryHint()}\n`
  } finally {
    left.removeEventListener('abort', end)
    hub.leave(subscriber)
  }
}

/** Sends what the client has missed. Returns the position up to which it has everything. */
async function* catchUp(
  { hub, pool, entity, topics, cursor }: StreamOptions,
  head: number,
): AsyncGenerator<string, number> {
  if (!cursor) return head
  const after = cursor.position
  // A position that no change has: the database is an older one than the client has seen.
  if (after > (await readHead(pool)) || Date.now() - cursor.atMs > resumableMs) return yield* reset(head)
  const missed = await listChanges(pool, { after, limit: maxMissed + 1, entity })
  if (missed.length > maxMissed) return yield* reset(head)
  for (const change of missed.filter((each) => follows(topics, each))) {
    yield presentChange(change, followsClosely(topics, change) ? await hub.readEvents(change) : undefined)
  }
  return Math.max(head, after, missed.at(-1)?.position ?? 0)
}

async function* reset(head: number): AsyncGenerator<string, number> {
  yield presentReset('too_old', head)
  return head
}

async function* followOn({ authorize }: StreamOptions, subscriber: Subscriber, begun: number): AsyncGenerator<string> {
  const endsAtMs = performance.now() + minLifeMs + Math.random() * lifeSpreadMs
  let sent = begun
  let checkAtMs = performance.now() + heartbeatMs
  while (!subscriber.isEnded && performance.now() < endsAtMs) {
    const { frames, tooSlow } = await subscriber.take(Math.max(0, checkAtMs - performance.now()))
    if (performance.now() >= checkAtMs) {
      if (!(await authorize())) return
      checkAtMs = performance.now() + heartbeatMs
      yield `: heartbeat\n${idOnly(sent)}`
    }
    if (tooSlow) yield presentReset('too_slow', sent)
    // The catch-up has sent the first of them.
    const fresh = frames.filter((frame) => positionOf(frame) > sent)
    const last = fresh.at(-1)
    if (last === undefined) continue
    sent = positionOf(last)
    yield fresh.join('')
  }
}

/** A browser remembers the id of an event without data, too. */
function idOnly(position: number): string {
  return `id: ${formatCursor({ position, atMs: Date.now() })}\n\n`
}

function positionOf(frame: string): number {
  return Number(/^id: (\d+)/.exec(frame)![1])
}

function retryHint(): string {
  return `retry: ${minRetryMs + Math.round(Math.random() * retrySpreadMs)}\n`
}
