import { keyOf } from '../../../artifacts/layout.ts'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Payload } from '../../../db/tracing/call-columns.ts'
import type { CallRow, SpilledPart, StoredCall } from '../../../db/tracing/call-rows.ts'
import type { Pool } from '../../../db/pool.ts'
import { holdKey, releaseAfter } from '../../../db/store/held-keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { splitBytes } from '../../../lib/split-bytes.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Project } from '../projects.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'

/** Where payloads of calls are. */
export interface SpilledDeps {
  artifacts: ArtifactStore
  log: Logger
}

// Larger values would make the table's rows slow to read for everybody. A usual call has 2 KB.
const maxInRowBytes = 256 * 1024

/** Whether a row may have payloads that are not to lie in it. */
export function isLarge({ startSize, endSize }: CallRow): boolean {
  return startSize > maxInRowBytes || endSize > maxInRowBytes
}

/** Where the payloads of a request go that are too large for their rows. */
export class Spill {
  readonly #pool: Pool
  readonly #artifacts: ArtifactStore
  readonly #holders: string[] = []

  constructor(pool: Pool, artifacts: ArtifactStore) {
    this.#pool = pool
    this.#artifacts = artifacts
  }

  /** Puts what is large into the artifact store, whole before the row; the row then says where it is. */
  async take(project: Project, row: CallRow): Promise<CallRow> {
    const payloads = Object.entries(row.payloads) as [Payload, Buffer | undefined][]
    for (const [place, bytes] of payloads) {
      if (bytes === undefined || bytes.length <= maxInRowBytes) continue
      row.spilled = { ...row.spilled, [place]: await this.#put(project, { id: row.id, place, bytes }) }
      row.payloads[place] = undefined
    }
    return row
  }

  /** Runs what writes the rows; nobody removes the objects before that is over. */
  commit(write: () => Promise<void>): Promise<void> {
    return releaseAfter({ pool: this.#pool, schema: 'tracing' }, this.#holders, write)
  }

  /** The object's name comes from what it holds and for whom: the same again makes no second one, and it has one owner. */
  async #put(
    project: Project,
    { id, place, bytes }: { id: string; place: string; bytes: Buffer },
  ): Promise<SpilledPart> {
    const hash = createHash('sha256').update(`${id}\n${place}\n`)
    const yielder = new EventLoopYielder()
    for (const part of splitBytes(bytes)) {
      hash.update(part)
      if (yielder.isDue()) await yielder.yield()
    }
    const name = hash.digest('hex')
    const key = keyOf('call', { entity: project.entity, project: project.number, name })
    this.#holders.push(await holdKey({ pool: this.#pool, schema: 'tracing' }, key))
    await this.#artifacts.put(key, bytes)
    return { key, size: bytes.length }
  }
}

/** Of a call's payloads in the artifact store. */
export function bytesOfSpilled({ spilled }: StoredCall): number {
  return Object.values(spilled ?? {}).reduce((sum, { size }) => sum + size, 0)
}

/** Puts payloads back into their places that lie in the artifact store, as far as they were asked for. */
export async function fetchSpilled(deps: SpilledDeps, calls: StoredCall[]): Promise<void> {
  for (const call of calls) {
    for (const [place, { key }] of Object.entries(call.spilled ?? {})) {
      if (call[place as Payload] === undefined) continue
      call[place as Payload] = await fetchPayload(deps, key)
    }
  }
}

/** Of a call that was removed since its row was read, the payload may be gone: that ends no answer. */
async function fetchPayload({ artifacts, log }: SpilledDeps, key: string) {
  try {
    return (await buffer(await artifacts.open(key))).toString()
  } catch (error) {
    if (!(error instanceof ArtifactMissing)) throw error
    log.warn({ key }, 'a payload of a call is missing')
    return null
  }
}
