import { badRequest } from '../errors.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { checkNames } from './params.ts'

const onlyIds = 'Can only purge by specifying one or more ids'

/**
 * Reads the ids to purge. The condition is `$eq` of the field id and a text, or an `$or` of these. If allowed, it may
 * be `$in` of the field id and texts.
 *
 * @throws {HttpError} 400 for any other condition, and for too many ids
 */
export function readPurgeIds(expr: unknown, allowed: { takesIn: boolean }): string[] {
  const ids = readIds(expr, allowed)
  checkNames(ids)
  return ids
}

function readIds(expr: unknown, { takesIn }: { takesIn: boolean }): string[] {
  const [operator, content] = readOnlyMember(expr)
  if (operator === '$eq') return [readEqual(content)]
  if (operator === '$in' && takesIn) return readAmong(content)
  if (operator !== '$or' || !Array.isArray(content) || content.length === 0) throw badRequest(onlyIds)
  return content.map((condition) => readEqual(readMember(condition, '$eq')))
}

function readEqual(content: unknown): string {
  return readText(readPair(content))
}

function readAmong(content: unknown): string[] {
  const list = readPair(content)
  if (!Array.isArray(list)) throw badRequest(onlyIds)
  return list.map(readText)
}

/** Reads the operand that the field id is compared with. */
function readPair(content: unknown): unknown {
  if (!Array.isArray(content) || content.length !== 2) throw badRequest(onlyIds)
  if (readMember(content[0], '$getField') !== 'id') throw badRequest(onlyIds)
  return content[1]
}

function readText(literal: unknown): string {
  const text = readMember(literal, '$literal')
  if (typeof text !== 'string') throw badRequest(onlyIds)
  return text
}

function readMember(value: unknown, name: string): unknown {
  const [found, content] = readOnlyMember(value)
  if (found !== name) throw badRequest(onlyIds)
  return content
}

function readOnlyMember(value: unknown): [name: string, content: unknown] {
  const members = isObject(value) ? Object.entries(value) : []
  if (members.length !== 1) throw badRequest(onlyIds)
  return members[0]!
}
