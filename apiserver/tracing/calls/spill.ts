import { keyOf } from '../../../artifacts/layout.ts'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Payload } from '../../../db/tracing/call-columns.ts'
import type { CallRow, SpilledPart, StoredCall } from '../../../db/tracing/call-rows.ts'
import type { Pool } from '../../../db/pool.ts'
import { HeldKeys, type HeldWrite } from '../../../db/store/held-keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { splitBytes } from '../../../lib/split-bytes.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Project } from '../projects.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'

/** What reads payloads from the artifact store. */
export interface SpilledDeps {
  artifacts: ArtifactStore
  log: Logger
}

// Larger values would make every read of the table slow. A typical call has 2 KB.
const maxInRowBytes = 256 * 1024

/** Whether some payloads of a row may be too large for the row. */
export function isLarge({ startSize, endSize }: CallRow): boolean {
  return startSize > maxInRowBytes || endSize > maxInRowBytes
}

/** Stores the payloads of one request that are too large for their rows. */
export class Spill {
  readonly #artifacts: ArtifactStore
  readonly #held: HeldKeys

  constructor(pool: Pool, artifacts: ArtifactStore) {
    this.#artifacts = artifacts
    this.#held = new HeldKeys({ pool, schema: 'tracing' })
  }

  /** Writes large payloads into the artifact store before the row is written. The row then has their keys. */
  async storeLarge(project: Project, row: CallRow): Promise<CallRow> {
    const payloads = Object.entries(row.payloads) as [Payload, Buffer | undefined][]
    for (const [column, bytes] of payloads) {
      if (bytes === undefined || bytes.length <= maxInRowBytes) continue
      row.spilled = { ...row.spilled, [column]: await this.#put(project, { id: row.id, column, bytes }) }
      row.payloads[column] = undefined
    }
    return row
  }

  /** Stores large payloads, and commits the rows. The garbage collection keeps the objects meanwhile. */
  write<S>(write: HeldWrite<S, void>): Promise<void> {
    return this.#held.write(write)
  }

  /**
   * The key is a hash of the content, the call and the payload's name, within the project. The same payload again
   * writes the same object, and an object has one owner.
   */
  async #put(
    project: Project,
    { id, column, bytes }: { id: string; column: string; bytes: Buffer },
  ): Promise<SpilledPart> {
    const hash = createHash('sha256').update(`${id}\n${column}\n`)
    const yielder = new EventLoopYielder()
    for (const part of splitBytes(bytes)) {
      hash.update(part)
      if (yielder.isDue()) await yielder.yield()
    }
    const name = hash.digest('hex')
    const key = keyOf('call', { entity: project.entity, project: project.number, name })
    await this.#held.acquire(key)
    await this.#artifacts.put(key, bytes)
    return { key, size: bytes.length }
  }
}

/** The bytes of a call's payloads in the artifact store. */
export function bytesOfSpilled({ spilled }: StoredCall): number {
  return Object.values(spilled ?? {}).reduce((sum, { size }) => sum + size, 0)
}

/** Reads the requested payloads from the artifact store into the calls. */
export async function fetchSpilled(deps: SpilledDeps, calls: StoredCall[]): Promise<void> {
  for (const call of calls) {
    for (const [column, { key }] of Object.entries(call.spilled ?? {})) {
      if (call[column as Payload] === undefined) continue
      call[column as Payload] = await fetchPayload(deps, key)
    }
  }
}

/** The payload may be missing if the call was removed after its row was read. The answer continues without it. */
async function fetchPayload({ artifacts, log }: SpilledDeps, key: string) {
  try {
    return (await buffer(await artifacts.open(key))).toString()
  } catch (error) {
    if (!(error instanceof ArtifactMissing)) throw error
    log.warn({ key }, 'a payload of a call is missing')
    return null
  }
}
