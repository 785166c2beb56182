import type { Pool } from '../../../db/pool.ts'
import { readVersions } from '../../../db/tracing/object-lists.ts'
import { queryTable } from '../../../db/tracing/tables.ts'
import type { Project } from '../projects.ts'
import { badRequest, missing, tooLarge, TraceRefusal } from '../refusals.ts'
import type { ObjectRef } from './parse-ref.ts'
import { startWalk, StoredValue, walk, type Walk } from './walk.ts'

// Of all values that one request goes through; they are in memory together.
const mostBytes = 128 * 1024 * 1024

// Objects that lead to objects: programs write a handful.
const mostRounds = 100

/** What a reference stands for as the text of a JSON value, or why there is no answer. */
export type Resolved = string | TraceRefusal

type Unfinished = Exclude<Walk, { text: string }>
type State = Walk | TraceRefusal

/** Follows references through one project: all of them together, a statement for each step and kind. */
export class RefReader {
  readonly #pool: Pool
  readonly #project: Project
  /** By what names them; null when deleted. */
  readonly #objects = new Map<string, StoredValue | null>()
  readonly #rows = new Map<string, StoredValue>()
  #bytesLeft = mostBytes

  constructor(pool: Pool, project: Project) {
    this.#pool = pool
    this.#project = project
  }

  /** In the order of the references. @throws {TraceRefusal} 413 when that is too much to be read together */
  async resolve(refs: Pick<ObjectRef, 'name' | 'digest' | 'edges'>[]): Promise<Resolved[]> {
    let states: State[] = refs.map((ref) => catchRefusal(() => startWalk(ref)))
    for (let round = 0; states.some(isUnfinished); round++) {
      if (round === mostRounds) throw badRequest('Invalid ref: it leads through too many objects')
      const unfinished = states.filter(isUnfinished)
      await this.#loadObjects(unfinished)
      await this.#loadRows(unfinished)
      states = states.map((state) => (isUnfinished(state) ? catchRefusal(() => this.#go(state)) : state))
    }
    return states.map((state) => (state instanceof TraceRefusal ? state : (state as { text: string }).text))
  }

  #go(state: Unfinished): Walk {
    if (state.needs === 'object') {
      const stored = this.#objects.get(nameObject(state))
      if (stored === null) return { text: 'null' }
      if (!stored) throw missing(`Obj ${state.name}:${state.digest} not found`)
      return walk(stored, state.edges, this.#project.id)
    }
    const stored = this.#rows.get(nameRow(state))
    if (!stored) throw missing(`Row ${state.digest} not found`)
    return walk(stored, state.edges, this.#project.id)
  }

  async #loadObjects(states: Unfinished[]): Promise<void> {
    const wanted = new Map<string, { objectId: string; digest: string }>()
    for (const state of states) {
      if (state.needs !== 'object' || this.#objects.has(nameObject(state))) continue
      wanted.set(nameObject(state), { objectId: state.name, digest: state.digest })
    }
    if (wanted.size === 0) return
    const names = [...wanted.values()]
    const found = await readVersions(this.#pool, this.#project.number, { names, valueBytes: this.#bytesLeft })
    for (const { objectId, digest, isDeleted, val } of found) {
      this.#objects.set(nameObject({ name: objectId, digest }), isDeleted ? null : this.#keep(val))
    }
  }

  async #loadRows(states: Unfinished[]): Promise<void> {
    const wanted = states.filter((state) => state.needs === 'row' && !this.#rows.has(nameRow(state)))
    const byTable = Map.groupBy(wanted as (Unfinished & { needs: 'row' })[], ({ table }) => table)
    for (const [table, ofTable] of byTable) {
      // What was read from the path of a reference may hold NUL, which no digest has and Postgres does not take.
      const digests = [...new Set(ofTable.map(({ digest }) => digest))].filter((digest) => !digest.includes('\0'))
      const page = { digest: table, digests, limit: null, offset: 0, valueBytes: this.#bytesLeft, sort: undefined }
      for (const { digest, val } of await queryTable(this.#pool, this.#project.number, page)) {
        if (!this.#rows.has(nameRow({ table, digest }))) this.#rows.set(nameRow({ table, digest }), this.#keep(val))
      }
    }
  }

  #keep(text: string | null): StoredValue {
    if (text === null) throw tooLarge()
    this.#bytesLeft -= text.length
    return new StoredValue(text)
  }
}

function isUnfinished(state: State): state is Unfinished {
  return 'needs' in state
}

function nameObject({ name, digest }: { name: string; digest: string }): string {
  return `${name}:${digest}`
}

function nameRow({ table, digest }: { table: string; digest: string }): string {
  return `${table}:${digest}`
}

function catchRefusal(step: () => Walk): State {
  try {
    return step()
  } catch (error) {
    if (error instanceof TraceRefusal) return error
    throw error
  }
}
