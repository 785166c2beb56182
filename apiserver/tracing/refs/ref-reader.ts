import { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest, missing, tooLarge, isAboutValues } from '../errors.ts'
import type { Pool } from '../../../db/pool.ts'
import { readVersions } from '../../../db/tracing/object-lists.ts'
import { readTableRows } from '../../../db/tracing/tables.ts'
import type { Project } from '../projects.ts'
import { truncate } from '../truncate.ts'
import { TooManyValues } from '../../../lib/json/value.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import type { ObjectRef } from './parse-ref.ts'
import { startWalk, StoredValue, walk, type Walk } from './walk.ts'

/** Limits the values that one request reads, with the parts that it takes from them. They are in memory together. */
export const maxRefBytes = 128 * 1024 * 1024

// Refs in objects lead to other objects. Real data needs a handful of rounds.
const maxRounds = 100

/** The value of a reference as JSON text, or an error. */
export type Resolved = string | HttpError

type Unfinished = Exclude<Walk, { text: string }>
type State = Walk | HttpError
/** An error if the value is too large, and null if the object is deleted. */
type Stored = StoredValue | HttpError | null

/** The state of one or more references with the same target. */
interface Slot {
  state: State
}

/** The limits of a read. */
export interface RefBounds {
  maxBytes: number
  /** Called before values are read, and before parts are taken from them. */
  reserve: (bytes: number) => void
}

/** Resolves references in one project. All references advance together, with one statement for each round and kind. */
export class RefReader {
  readonly #pool: Pool
  readonly #project: Project
  /** By name and digest. */
  readonly #objects = new Map<string, Stored>()
  readonly #rows = new Map<string, Stored>()
  readonly #yielder = new EventLoopYielder()
  readonly #reserve: RefBounds['reserve']
  #bytesLeft: number

  constructor(pool: Pool, project: Project, { maxBytes, reserve }: RefBounds) {
    this.#pool = pool
    this.#project = project
    this.#bytesLeft = maxBytes
    this.#reserve = reserve
  }

  /** Returns results in the order of the references. Values that exceed the limit get a 413. */
  async resolve(refs: Pick<ObjectRef, 'name' | 'digest' | 'edges'>[]): Promise<Resolved[]> {
    // Several spellings of a reference, differently quoted, have the same target.
    const slots = new Map<string, Slot>()
    const asked = refs.map((ref) => {
      const slot = slots.get(nameRef(ref)) ?? { state: catchHttpError(() => startWalk(ref)) }
      slots.set(nameRef(ref), slot)
      return slot
    })
    for (let round = 0; ; round++) {
      const unfinished = [...slots.values()].filter(isUnfinished)
      if (unfinished.length === 0) return asked.map(({ state }) => finish(state))
      if (round < maxRounds) await this.#advance(unfinished)
      else for (const slot of unfinished as Slot[]) slot.state = endless()
    }
  }

  async #advance(slots: { state: Unfinished }[]): Promise<void> {
    await this.#loadObjects(slots.map(({ state }) => state))
    await this.#loadRows(slots.map(({ state }) => state))
    for (const [stored, ofStored] of Map.groupBy(slots, ({ state }) => this.#find(state))) {
      for (const slot of ofStored as Slot[]) {
        const { state } = slot as { state: Unfinished }
        slot.state = catchHttpError(() => this.#go(stored, state))
        if (this.#yielder.isDue()) await this.#yielder.yield()
      }
      // The parsed value takes many times the memory of its text.
      if (stored instanceof StoredValue) stored.forget()
    }
  }

  #find(state: Unfinished): Stored | undefined {
    return state.needs === 'object' ? this.#objects.get(nameObject(state)) : this.#rows.get(nameRow(state))
  }

  #go(stored: Stored | undefined, state: Unfinished): Walk {
    if (stored === undefined) throw notFound(state)
    if (stored === null) return { text: 'null' }
    if (stored instanceof HttpError) throw stored
    if (this.#bytesLeft < 0) throw tooLarge()
    const next = walk(stored, state.edges, this.#project.id)
    if ('text' in next && next.text !== stored.text) this.#reserveText(next.text)
    return next
  }

  async #loadObjects(states: Unfinished[]): Promise<void> {
    const wanted = new Map<string, { objectId: string; digest: string }>()
    for (const state of states) {
      if (state.needs !== 'object' || this.#objects.has(nameObject(state))) continue
      wanted.set(nameObject(state), { objectId: state.name, digest: state.digest })
    }
    if (wanted.size === 0) return
    const names = [...wanted.values()]
    const found = await this.#readCounted((valueBytes) =>
      readVersions(this.#pool, this.#project.number, { names, valueBytes }),
    )
    for (const { objectId, digest, isDeleted, val } of found) {
      this.#objects.set(nameObject({ name: objectId, digest }), isDeleted ? null : this.#keep(val))
    }
  }

  async #loadRows(states: Unfinished[]): Promise<void> {
    const wanted = states.filter((state) => state.needs === 'row' && !this.#rows.has(nameRow(state)))
    const byTable = Map.groupBy(wanted as (Unfinished & { needs: 'row' })[], ({ table }) => table)
    for (const [table, ofTable] of byTable) {
      // A digest from a reference may contain NUL, which Postgres rejects. No real digest contains it.
      const digests = [...new Set(ofTable.map(({ digest }) => digest))].filter((digest) => !digest.includes('\0'))
      const found = await this.#readCounted((valueBytes) =>
        readTableRows(this.#pool, this.#project.number, { table, digests, valueBytes }),
      )
      for (const { digest, val } of found) {
        this.#rows.set(nameRow({ table, digest }), this.#keep(val))
      }
    }
  }

  /** Reads the sizes first, and then the values that fit into the limit. */
  async #readCounted<T extends { size: number }>(read: (valueBytes: number) => Promise<T[]>): Promise<T[]> {
    const bytes = (await read(0)).reduce((sum, { size }) => sum + size, 0)
    this.#reserve(Math.min(bytes, Math.max(0, this.#bytesLeft)))
    return read(this.#bytesLeft)
  }

  #keep(text: string | null): Stored {
    if (text === null) return tooLarge()
    this.#bytesLeft -= text.length
    return new StoredValue(text)
  }

  #reserveText(text: string): void {
    this.#bytesLeft -= text.length
    if (this.#bytesLeft < 0) throw tooLarge()
    this.#reserve(text.length)
  }
}

function isUnfinished(slot: Slot): slot is { state: Unfinished } {
  return 'needs' in slot.state
}

function finish(state: State): Resolved {
  return state instanceof HttpError ? state : (state as { text: string }).text
}

function endless(): HttpError {
  return badRequest('Invalid ref: it passes through too many objects')
}

function notFound(state: Unfinished): HttpError {
  const [kind, name] = state.needs === 'object' ? ['Obj', nameObject(state)] : ['Row', state.digest]
  return missing(`${kind} ${truncate(name)} not found`)
}

function nameRef({ name, digest, edges }: Pick<ObjectRef, 'name' | 'digest' | 'edges'>): string {
  return JSON.stringify([name, digest, edges])
}

function nameObject({ name, digest }: { name: string; digest: string }): string {
  return `${name}:${digest}`
}

function nameRow({ table, digest }: { table: string; digest: string }): string {
  return `${table}:${digest}`
}

function catchHttpError(step: () => Walk): State {
  try {
    return step()
  } catch (error) {
    if (error instanceof TooManyValues) return tooLarge()
    if (isAboutValues(error)) return error
    throw error
  }
}
