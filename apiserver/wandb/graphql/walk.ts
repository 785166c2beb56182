import { HttpError } from '../../../lib/http/http-error.ts'
import { findRequest } from '../../../lib/request-scope.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { errors } from '../../errors/table.ts'
import type { PlannedField } from './plan.ts'
import { JsonScalar, type GraphqlObject, type GraphqlValue } from './values.ts'

/** What failed below a field, and where. */
export class FieldFailed extends Error {
  override name = 'FieldFailed'
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[], cause: unknown) {
    super(`the field ${path.join('.')} failed`, { cause })
    this.path = path
  }
}

type Path = readonly (string | number)[]

// 5,000 files of a version, with 20 fields each, are 100,000 values.
const maxValues = 300_000
// Fields that may ask the database. A list of 100 runs may have several of them for each run.
const maxCalls = 2_000

// Types with the same interface. A fragment on one of them does not apply to the others. All other conditions apply,
// because interfaces are not declared here.
const exclusive: readonly (readonly string[])[] = [
  ['ArtifactSequence', 'ArtifactPortfolio'],
  ['User', 'Team'],
]

/** Walks what a plan selects over the objects of an answer, one field after the other. */
export class Walk {
  readonly #yielder = new EventLoopYielder()
  readonly #answer = findRequest()?.answer
  readonly #chosen = new WeakMap<readonly PlannedField[], Map<string, readonly PlannedField[]>>()
  #values = 0
  #calls = 0

  /** @throws {FieldFailed} */
  async resolveObject(object: GraphqlObject, fields: readonly PlannedField[], path: Path = []): Promise<unknown> {
    const type = typeof object['__typename'] === 'string' ? object['__typename'] : ''
    const entries: [string, unknown][] = []
    for (const field of this.#choose(fields, type)) {
      const fieldPath = [...path, field.key]
      this.#answer?.write(field.key.length)
      entries.push([field.key, await this.#resolveField(object, field, fieldPath)])
    }
    // An alias may be __proto__, which an assignment would not add.
    return Object.fromEntries(entries)
  }

  async #resolveField(object: GraphqlObject, field: PlannedField, path: Path): Promise<unknown> {
    if (this.#yielder.isDue()) await this.#yielder.yield()
    try {
      return await this.#complete(await this.#read(object, field), field, path)
    } catch (error) {
      throw error instanceof FieldFailed ? error : new FieldFailed(path, error)
    }
  }

  #read(object: GraphqlObject, { name, args }: PlannedField): GraphqlValue | Promise<GraphqlValue> {
    const member = Object.hasOwn(object, name) ? object[name] : undefined
    if (typeof member !== 'function') return member
    this.#calls += 1
    if (this.#calls > maxCalls) throw tooLarge()
    return member(args)
  }

  async #complete(value: GraphqlValue, field: PlannedField, path: Path): Promise<unknown> {
    this.#values += 1
    if (this.#values > maxValues) throw tooLarge()
    if (value === undefined || value === null) return null
    if (value instanceof JsonScalar) return this.#write(value.value)
    if (isList(value)) {
      const items: unknown[] = []
      for (const [index, item] of value.entries()) items.push(await this.#complete(item, field, [...path, index]))
      return items
    }
    // A scalar has no selection, and an object has one.
    if (typeof value !== 'object') return field.fields ? null : this.#write(value)
    return field.fields ? this.resolveObject(value, field.fields, path) : null
  }

  /** Counts a value each time that the answer has it, under whatever name. */
  #write(value: unknown): unknown {
    this.#answer?.write(JSON.stringify(value).length)
    return value
  }

  /** The fields that apply to a type. Fields with the same name in the answer are one. */
  #choose(fields: readonly PlannedField[], type: string): readonly PlannedField[] {
    const known = this.#chosen.get(fields) ?? new Map<string, readonly PlannedField[]>()
    this.#chosen.set(fields, known)
    const found = known.get(type) ?? mergeFields(fields.filter(({ types }) => types.every((each) => fits(type, each))))
    known.set(type, found)
    return found
  }
}

function mergeFields(fields: readonly PlannedField[]): readonly PlannedField[] {
  const merged = new Map<string, PlannedField>()
  for (const field of fields) {
    const before = merged.get(field.key)
    if (before && before.name !== field.name)
      throw new HttpError(errors.bad_request, `The query has two different fields with the name ${field.key}.`)
    const below = [...(before?.fields ?? []), ...(field.fields ?? [])]
    merged.set(field.key, before ? { ...before, fields: below.length > 0 ? below : undefined } : field)
  }
  return [...merged.values()]
}

function fits(type: string, condition: string): boolean {
  return type === condition || !exclusive.some((group) => group.includes(type) && group.includes(condition))
}

function isList(value: GraphqlValue): value is readonly GraphqlValue[] {
  return Array.isArray(value)
}

function tooLarge(): HttpError {
  return new HttpError(errors.bad_request, 'The answer to this query is too large. Request fewer items or fields.')
}
