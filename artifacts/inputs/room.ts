import { findEntityLimits } from '../../db/accounts/limits.ts'
import { sumStoredBytes } from '../../db/accounts/quota-use.ts'
import type { Pool } from '../../db/pool.ts'
import { sumTraceBytes } from '../../db/tracing/stored-bytes.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { limitSetting } from '../../lib/limit-setting.ts'
import { InputError } from './address.ts'

/** What an entity may store for which nothing was set. */
export const storedBytesSetting = {
  TRAINYARD_DEFAULT_STORED_BYTES: limitSetting(1024 ** 4, Number.MAX_SAFE_INTEGER),
}

interface RoomDeps {
  pool: Pool
  tracing: Pool
  /** What an entity may store for which nothing was set; Infinity is no limit. */
  storedBytes: number
}

/** What an entity has stored, and may store. */
interface Room {
  stored: number
  limit: number
}

/** The room that entities have for what is fetched for them. One process fetches, and knows all that comes in that way. */
export class FetchRoom {
  readonly #deps: RoomDeps
  /** Bytes that are being fetched, by entity. */
  readonly #fetching = new Map<string, number>()

  constructor(deps: RoomDeps) {
    this.#deps = deps
  }

  /** Counts what is fetched for an entity until it is closed. @throws {InputError} when there is no room for anything */
  async open(entity: string): Promise<FetchedBytes> {
    const measure = () => this.#measure(entity)
    return new FetchedBytes(entity, { room: await measure(), measure, fetching: this.#fetching })
  }

  async #measure(entity: string): Promise<Room> {
    const { pool, storedBytes } = this.#deps
    const limit = (await findEntityLimits(pool, entity)).storedBytes ?? storedBytes
    if (limit === Infinity) return { stored: 0, limit }
    const [training, traces] = await Promise.all([sumStoredBytes(pool, entity), this.#sumTraces(entity)])
    return { stored: training + traces, limit }
  }

  /** Training does not wait for the database of traces. */
  async #sumTraces(entity: string): Promise<number> {
    try {
      return await sumTraceBytes(this.#deps.tracing, entity)
    } catch (error) {
      if (isDatabaseUnavailable(error)) return 0
      throw error
    }
  }
}

interface Fetching {
  /** When this began. */
  room: Room
  measure: () => Promise<Room>
  fetching: Map<string, number>
}

/** The bytes of one fetch. */
export class FetchedBytes {
  readonly #entity: string
  readonly #fetching: Fetching
  #bytes = 0

  constructor(entity: string, fetching: Fetching) {
    this.#entity = entity
    this.#fetching = fetching
    this.#require(fetching.room, this.#ofAll + 1)
  }

  /** Counts what has come. @throws {InputError} when it is more than the entity may store */
  add(bytes: number): void {
    this.#require(this.#fetching.room, this.#ofAll + bytes)
    this.#count(bytes)
  }

  /** Looks once more when all has come: others have stored more meanwhile. @throws {InputError} */
  async confirm(): Promise<void> {
    this.#require(await this.#fetching.measure(), this.#bytes)
  }

  /** It is stored, and counts there, or it is gone. */
  close(): void {
    this.#count(-this.#bytes)
  }

  get #ofAll(): number {
    return this.#fetching.fetching.get(this.#entity) ?? 0
  }

  #count(bytes: number): void {
    const { fetching } = this.#fetching
    const all = this.#ofAll + bytes
    if (all > 0) fetching.set(this.#entity, all)
    else fetching.delete(this.#entity)
    this.#bytes += bytes
  }

  #require({ stored, limit }: Room, bytes: number): void {
    if (stored + bytes <= limit) return
    const detail = `${this.#entity} stores ${stored} bytes; its limit stored_bytes is ${limit}, and the training data need more`
    const advice = 'delete models, checkpoints or artifacts, or ask for a higher limit'
    throw new InputError('InputExceedsQuota', `${detail}: ${advice}`)
  }
}
