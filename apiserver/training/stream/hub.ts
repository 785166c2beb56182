import { listEvents, type EventRow } from '../../../db/jobs/events.ts'
import type { Pool } from '../../../db/pool.ts'
import { eventsKind, listChanges, readHead, type ChangeRow } from '../../../db/webhooks/read-outbox.ts'
import type { Logger } from '../../../lib/log.ts'
import { runShared } from '../../../lib/request-scope.ts'
import { presentChange } from './present.ts'
import type { Subscriber } from './subscriber.ts'
import { follows, followsClosely } from './topics.ts'

const batchRows = 500
const maxEvents = 100
// Notifications may be missing.
const pollMs = 5_000

/**
 * Reads changes once for all clients of a process. A notification wakes it. While nobody follows, it reads nothing.
 */
export class ChangeHub {
  readonly #pool: Pool
  readonly #log: Logger
  readonly #byEntity = new Map<string, Set<Subscriber>>()
  /** The position up to which changes are sent; undefined while nobody follows. */
  #position: Promise<number> | undefined
  #isReading = false
  #isAwake = false
  #isClosed = false
  #poll: NodeJS.Timeout | undefined

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool
    this.#log = log
  }

  /** Sends changes to a subscriber from now on. Returns the position before the first of them. */
  async follow(subscriber: Subscriber): Promise<number> {
    const { entity } = subscriber
    const followers = this.#byEntity.get(entity) ?? new Set()
    this.#byEntity.set(entity, followers.add(subscriber))
    if (this.#isClosed) subscriber.end()
    this.#position ??= this.#begin()
    return this.#position
  }

  leave(subscriber: Subscriber): void {
    const followers = this.#byEntity.get(subscriber.entity)
    followers?.delete(subscriber)
    if (followers?.size === 0) this.#byEntity.delete(subscriber.entity)
    if (this.#byEntity.size === 0) this.#stop()
  }

  /** Call it when there may be new changes. */
  wake(): void {
    if (this.#position === undefined || this.#isClosed) return
    this.#isAwake = true
    // One read serves all entities.
    void runShared(() => this.#readAll())
  }

  /** Reads the events of a change, for those who follow its job closely. */
  async readEvents(change: ChangeRow): Promise<EventRow[] | undefined> {
    const { from, to } = change.data
    if (change.kind !== eventsKind || typeof from !== 'number' || typeof to !== 'number') return undefined
    const events = await listEvents(this.#pool, change.subjectId, { after: from - 1, limit: maxEvents })
    return events.filter(({ seq }) => seq <= to)
  }

  /** Ends all subscribers: their clients come back to another process. */
  close(): void {
    this.#isClosed = true
    for (const followers of this.#byEntity.values()) for (const subscriber of followers) subscriber.end()
    this.#stop()
  }

  #begin(): Promise<number> {
    this.#poll ??= setInterval(() => this.wake(), pollMs)
    const position = readHead(this.#pool)
    position.catch(() => this.#stop())
    return position
  }

  #stop(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
    this.#position = undefined
  }

  async #readAll(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isAwake && this.#position !== undefined) {
        this.#isAwake = false
        await this.#readBatch(this.#position)
      }
    } catch (error) {
      // The poll tries again.
      this.#log.debug({ error }, 'changes not read')
    } finally {
      this.#isReading = false
    }
  }

  async #readBatch(position: Promise<number>): Promise<void> {
    const changes = await listChanges(this.#pool, { after: await position, limit: batchRows })
    for (const change of changes) await this.#send(change)
    const last = changes.at(-1)
    // Meanwhile all may have left, and others may have come.
    if (last && this.#position === position) this.#position = Promise.resolve(last.position)
    if (changes.length === batchRows) this.#isAwake = true
  }

  /** Each text is made once and shared by all who get it. */
  async #send(change: ChangeRow): Promise<void> {
    const wanted = [...(this.#byEntity.get(change.entity) ?? [])].filter(({ topics }) => follows(topics, change))
    const close = wanted.filter(({ topics }) => followsClosely(topics, change))
    const detailed = close.length > 0 ? presentChange(change, await this.readEvents(change)) : ''
    const plain = close.length < wanted.length ? presentChange(change) : ''
    for (const subscriber of wanted) subscriber.add(close.includes(subscriber) ? detailed : plain)
  }
}
