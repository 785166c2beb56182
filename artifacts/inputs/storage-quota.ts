import { findEntityLimits } from '../../db/accounts/limits.ts'
import { sumStoredBytes } from '../../db/accounts/quota-use.ts'
import type { Pool } from '../../db/pool.ts'
import { sumTraceBytes } from '../../db/tracing/stored-bytes.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { limitSetting } from '../../lib/limit-setting.ts'
import { InputError } from './address.ts'

/** The storage limit of entities without a limit of their own. */
export const storedBytesSetting = {
  TRAINYARD_DEFAULT_STORED_BYTES: limitSetting(1024 ** 4, Number.MAX_SAFE_INTEGER),
}

interface StorageQuotaDeps {
  pool: Pool
  tracing: Pool
  /** The default storage limit of an entity. Infinity means no limit. */
  storedBytes: number
}

/** The stored bytes of an entity, and its limit. */
interface StorageUse {
  stored: number
  limit: number
}

/**
 * The remaining storage of entities for fetched data. A single process fetches, so it knows all fetches in progress.
 */
export class StorageQuota {
  readonly #deps: StorageQuotaDeps
  /** The bytes that are being fetched, by entity. */
  readonly #fetching = new Map<string, number>()

  constructor(deps: StorageQuotaDeps) {
    this.#deps = deps
  }

  /**
   * Opens a counter for a fetch of an entity, until it is closed. @throws {InputError} when the entity's storage is
   * full
   */
  async open(entity: string): Promise<FetchedBytes> {
    const measure = () => this.#measure(entity)
    return new FetchedBytes(entity, { quota: await measure(), measure, fetching: this.#fetching })
  }

  async #measure(entity: string): Promise<StorageUse> {
    const { pool, storedBytes } = this.#deps
    const limit = (await findEntityLimits(pool, entity)).storedBytes ?? storedBytes
    if (limit === Infinity) return { stored: 0, limit }
    const [training, traces] = await Promise.all([sumStoredBytes(pool, entity), this.#sumTraces(entity)])
    return { stored: training + traces, limit }
  }

  /** Training must not wait for the tracing database. */
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
  /** When the fetch began. */
  quota: StorageUse
  measure: () => Promise<StorageUse>
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
    this.#require(fetching.quota, this.#ofAll + 1)
  }

  /** Counts received bytes. @throws {InputError} when the entity may not store them */
  add(bytes: number): void {
    this.#require(this.#fetching.quota, this.#ofAll + bytes)
    this.#count(bytes)
  }

  /**
   * Checks the limit again after the last byte, because the entity may have stored other data meanwhile. @throws
   * {InputError}
   */
  async confirm(): Promise<void> {
    this.#require(await this.#fetching.measure(), this.#bytes)
  }

  /** Stops the count: the data is now stored and counted there, or it is gone. */
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

  #require({ stored, limit }: StorageUse, bytes: number): void {
    if (stored + bytes <= limit) return
    const detail = `${this.#entity} stores ${stored} bytes; its limit stored_bytes is ${limit}, and the training data need more`
    const advice = 'delete models, checkpoints or artifacts, or ask for a higher limit'
    throw new InputError('InputExceedsQuota', `${detail}: ${advice}`)
  }
}
