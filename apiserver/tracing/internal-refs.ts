import { listProjectNumbers } from '../../db/tracing/project-facts.ts'
import type { Pool } from '../../db/pool.ts'
import { JsonError } from '../../lib/json/parse.ts'
import { toPythonJson } from '../../lib/json/python.ts'
import { parseValue, ValueBudget, type Value } from '../../lib/json/value.ts'
import type { Project } from './projects.ts'

/** The numbers of projects by id, which is entity/name. */
export type ProjectNumbers = ReadonlyMap<string, number>

const external = 'weave:///'
const internal = 'weave-trace-internal:///'

// Values refer to their own project, and rarely to another.
const maxOthers = 1_000
const maxForeignRefs = 10_000
const maxNameLength = 300
// Clients look as deep into JSON within texts.
const maxTextDepth = 8

/**
 * Finds the numbers of the projects that the references in a JSON text name: the project's own and those of its entity.
 * Clients know no others.
 */
export async function findProjectNumbers(pool: Pool, project: Project, text: string): Promise<ProjectNumbers> {
  const numbers = new Map([[project.id, project.number]])
  const names = listOthers(project, text)
  if (names.length === 0) return numbers
  const found = await listProjectNumbers(pool, project.entity, names)
  for (const { name, number } of found) numbers.set(`${project.entity}/${name}`, number)
  return numbers
}

function listOthers({ entity, name }: Project, text: string): string[] {
  const [of, own] = [entity, name].map((part) => part.replaceAll(/[^\w]/gu, String.raw`\$&`))
  const reference = new RegExp(String.raw`${external}${of}/(?!${own}/)([^/"\\]{1,${maxNameLength}})/`, 'g')
  const names = new Set<string>()
  let seen = 0
  for (const [, other = ''] of text.matchAll(reference)) {
    names.add(other)
    if (names.size === maxOthers || ++seen === maxForeignRefs) break
  }
  return [...names]
}

/**
 * Replaces references to projects by their internal form, also in JSON within texts. Digests are computed over this
 * form: clients that compute digests themselves ask for the numbers of projects, and do the same.
 */
export function toInternalRefs(value: Value, numbers: ProjectNumbers): Value {
  return new Converter(numbers).convert(value, 0)
}

class Converter {
  readonly #numbers: ProjectNumbers
  readonly #budget = new ValueBudget()

  constructor(numbers: ProjectNumbers) {
    this.#numbers = numbers
  }

  /** Returns the same value if nothing in it changes. */
  convert(value: Value, textDepth: number): Value {
    if (typeof value === 'string') return this.#convertText(value, textDepth)
    if (Array.isArray(value)) {
      const items = value.map((item) => this.convert(item, textDepth))
      return items.some((item, index) => item !== value[index]) ? items : value
    }
    if (!(value instanceof Map)) return value
    const members = Array.from(value, ([key, member]) => [key, this.convert(member, textDepth)] as const)
    return members.some(([key, member]) => member !== value.get(key)) ? new Map(members) : value
  }

  #convertText(text: string, textDepth: number): string {
    if (text.startsWith(external)) return this.#convertRef(text)
    if (textDepth === maxTextDepth || !text.includes(external)) return text
    const parsed = this.#parse(text)
    if (parsed === undefined) return text
    const converted = this.convert(parsed, textDepth + 1)
    return converted === parsed ? text : toPythonJson(converted, 'as-is')
  }

  #convertRef(ref: string): string {
    const [entity = '', name = '', ...rest] = ref.slice(external.length).split('/')
    const number = this.#numbers.get(`${entity}/${name}`)
    return number === undefined || rest.length === 0 ? ref : `${internal}${number}/${rest.join('/')}`
  }

  #parse(text: string): Value | undefined {
    try {
      return parseValue(text, this.#budget)
    } catch (error) {
      if (error instanceof JsonError) return undefined
      throw error
    }
  }
}
