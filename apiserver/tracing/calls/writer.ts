import { setImmediate } from 'node:timers/promises'
import type { CallRow } from '../../../db/tracing/call-rows.ts'
import { writeCalls } from '../../../db/tracing/write-calls.ts'
import { isDatabaseUnavailable } from '../../../db/unavailable.ts'
import type { Pool } from '../../../db/pool.ts'
import { runShared } from '../../../lib/request-scope.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { Project } from '../projects.ts'
import { foldParts, type CallPart } from './parts.ts'
import { joinRows } from './join-rows.ts'
import { buildRow } from './rows.ts'
import { isLarge, Spill } from './spill.ts'

// While one writer waits for the disk, the other one prepares its batch.
const maxConcurrentWrites = 2
const maxRows = 4_000
const maxBytes = 16 * 1024 * 1024
// In a large request, other requests may run after this many rows.
const rowsPerSlice = 1_000
// While a statement runs, less than this waits for it to end: fewer, larger statements cost less.
const minConcurrentBytes = 256 * 1024

/** The calls of one request that wait to be written. */
interface Batch {
  rows: CallRow[]
  bytes: number
  done: () => void
  failed: (error: unknown) => void
}

/**
 * Writes calls. Calls that arrive during a write wait, and are then written together. So many small requests cost as
 * little as one large request.
 */
export class CallWriter {
  readonly #pool: Pool
  readonly #artifacts: ArtifactStore
  #waiting: Batch[] = []
  #waitingBytes = 0
  #running = 0

  constructor(pool: Pool, artifacts: ArtifactStore) {
    this.#pool = pool
    this.#artifacts = artifacts
  }

  /**
   * Resolves when the calls are durable. Writing the same parts again changes nothing. Newer parts replace older ones.
   */
  async write(project: Project, parts: readonly CallPart[]): Promise<void> {
    const spill = new Spill(this.#pool, this.#artifacts)
    const store = async () => {
      const rows: CallRow[] = []
      for (const part of foldParts(parts)) {
        if (rows.length % rowsPerSlice === rowsPerSlice - 1) await setImmediate()
        const row = buildRow(project, part)
        rows.push(isLarge(row) ? await spill.storeLarge(project, row) : row)
      }
      return rows
    }
    await spill.write({ store, commit: async (rows) => void (rows.length > 0 && (await this.#queue(rows))) })
  }

  async #queue(rows: CallRow[]): Promise<void> {
    const bytes = rows.reduce((sum, row) => sum + row.startSize + row.endSize, 0)
    await new Promise<void>((done, failed) => {
      this.#waiting.push({ rows, bytes, done, failed })
      this.#waitingBytes += bytes
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#mayRun()) {
      this.#running++
      // The calls are those of several entities.
      void runShared(() => this.#flush(this.#dequeue())).finally(() => {
        this.#running--
        this.#pump()
      })
    }
  }

  #mayRun(): boolean {
    return this.#running === 0 || (this.#running < maxConcurrentWrites && this.#waitingBytes >= minConcurrentBytes)
  }

  /** Removes the batches of the next write from the queue; at least one. */
  #dequeue(): Batch[] {
    let rows = 0
    let bytes = 0
    const end = this.#waiting.findIndex((batch) => {
      rows += batch.rows.length
      bytes += batch.bytes
      return rows > maxRows || bytes > maxBytes
    })
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(1, end))
    for (const batch of taken) this.#waitingBytes -= batch.bytes
    return taken
  }

  async #flush(batches: Batch[]): Promise<void> {
    try {
      await writeCalls(this.#pool, joinRows(batches.map(({ rows }) => rows)))
      for (const { done } of batches) done()
    } catch (error) {
      await this.#flushSeparately(batches, error)
    }
  }

  /** Writes each batch by itself, so that one bad request does not fail the others. */
  async #flushSeparately(batches: Batch[], error: unknown): Promise<void> {
    if (batches.length === 1 || isDatabaseUnavailable(error)) {
      for (const { failed } of batches) failed(error)
      return
    }
    for (const batch of batches) await this.#flush([batch])
  }
}
