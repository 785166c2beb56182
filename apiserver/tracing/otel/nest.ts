import { cleanJson } from '../../../lib/json/clean.ts'
import { parseValue, TooManyValues, type Value, ValueBudget } from '../../../lib/json/value.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { truncate } from '../truncate.ts'
import type { Attribute } from './any-value.ts'
import { OtlpError } from './otlp-error.ts'

export type Members = Map<string, Value>

// A key with more parts stays whole. Its object would be deeper than any reader allows.
const maxParts = 100
const maxDottedLength = 8 * 1024
// The limit for JSON inside of a text.
const maxTextDepth = 300

/**
 * Turns dotted keys into objects: `llm.model` becomes `model` in `llm`. Texts that contain a JSON object or array are
 * parsed, unless the budget is too small for their values. Objects with the keys 0 to n-1 become arrays.
 *
 * @throws {OtlpError} when a key is a value and also the prefix of other keys
 * @throws {TooManyValues} when the keys make more objects than the budget has
 */
export function nestAttributes(attributes: readonly Attribute[], budget = new ValueBudget()): Members {
  const root: Members = new Map()
  for (const { key, value } of attributes) {
    insert({ root, budget }, splitKey(key), parseJsonText(value, budget))
  }
  return new Map(Array.from(root, ([key, value]) => [key, toArrays(value)]))
}

function splitKey(key: string): string[] {
  const parts = key.length > maxDottedLength ? [key] : key.split('.')
  return parts.length > maxParts ? [key] : parts
}

/** Nests attributes. If the keys conflict or make too many objects, the attributes stay flat. */
export function nestIfPossible(attributes: readonly Attribute[], budget: ValueBudget): Members {
  try {
    return nestAttributes(attributes, budget)
  } catch (error) {
    if (!(error instanceof OtlpError || error instanceof TooManyValues)) throw error
    return new Map(attributes.map(({ key, value }) => [key, value]))
  }
}

function insert(
  { root, budget }: { root: Members; budget: ValueBudget },
  parts: readonly string[],
  value: Value,
): void {
  let parent = root
  for (const part of parts.slice(0, -1)) {
    const child = parent.get(part) ?? createMembers(budget)
    if (!(child instanceof Map)) throw conflict(parts)
    parent.set(part, child)
    parent = child
  }
  const last = parts.at(-1)!
  const before = parent.get(last)
  if (isContainer(before) && !isContainer(value)) throw conflict(parts)
  if (before instanceof Map && value instanceof Map) merge(before, value)
  else parent.set(last, value)
}

/** @throws {TooManyValues} */
function createMembers(budget: ValueBudget): Members {
  budget.spend()
  return new Map()
}

/** Merges an object into another. Members of both that are objects are merged too, and other members are replaced. */
function merge(target: Members, source: Members): void {
  for (const [key, value] of source) {
    const before = target.get(key)
    if (before instanceof Map && value instanceof Map) merge(before, value)
    else target.set(key, value)
  }
}

function conflict(parts: readonly string[]): OtlpError {
  return new OtlpError(
    `attribute '${truncate(parts.join('.'))}' conflicts with another: a key is a value or an object, not both`,
  )
}

function isContainer(value: Value | undefined): boolean {
  return value instanceof Map || Array.isArray(value)
}

function parseJsonText(value: Value, budget: ValueBudget): Value {
  if (typeof value !== 'string' || !(value.startsWith('{') || value.startsWith('['))) return value
  const { left } = budget
  try {
    const parsed = parseValue(cleanJson(Buffer.from(value)).toString(), budget)
    if (!isDeeperThan(parsed, maxTextDepth)) return parsed
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  budget.left = left
  return value
}

function isDeeperThan(value: Value, depth: number): boolean {
  if (!isContainer(value)) return false
  const items = value as Members | Value[]
  return depth === 0 || [...items.values()].some((item) => isDeeperThan(item, depth - 1))
}

/** Objects inside an array stay as the client wrote them. */
function toArrays(value: Value): Value {
  if (!(value instanceof Map)) return value
  const members = new Map(Array.from(value, ([key, member]) => [key, toArrays(member)]))
  const indexes = Array.from(members.keys(), (_, index) => String(index))
  const isList = indexes.length > 0 && indexes.every((index) => members.has(index))
  return isList ? indexes.map((index) => members.get(index)!) : members
}
