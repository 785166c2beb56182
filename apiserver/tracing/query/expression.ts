import { unprocessable } from '../../../lib/http/http-error.ts'
import { badRequest } from '../errors.ts'
import { isObject } from '../../../lib/json/is-object.ts'

export type Literal = string | number | boolean | null

export type Comparator = '$eq' | '$gt' | '$gte' | '$lt' | '$lte'

const castTargets = ['double', 'string', 'int', 'bool', 'exists'] as const

export type CastTarget = (typeof castTargets)[number]

/** A parsed query. An operation is also an operand: its value is a boolean. */
export type Expression =
  | { kind: 'literal'; value: Literal }
  | { kind: 'field'; path: string }
  | { kind: 'convert'; input: Expression; to: CastTarget }
  | { kind: 'and' | 'or'; operands: Expression[] }
  | { kind: 'not'; operand: Expression }
  | { kind: 'compare'; comparator: Comparator; left: Expression; right: Expression }
  | { kind: 'in'; input: Expression; list: Expression[] }
  | { kind: 'contains'; input: Expression; text: Expression; ignoresCase: boolean }

type Location = readonly string[]

/** Far more than people write, and far less than would exhaust the database's stack. */
const maxDepth = 64
/** A statement has 65,535 parameters, and an operand takes one or two. */
const maxOperands = 10_000

/**
 * Parses `$expr`.
 *
 * @throws {HttpError} 422 for an invalid operation, 400 for one that is empty or too large
 */
export function readExpression(written: unknown): Expression {
  return new ExpressionReader().read(written, ['body', 'query', '$expr'])
}

class ExpressionReader {
  #operands = 0

  read(written: unknown, at: Location, depth = 0): Expression {
    if (++this.#operands > maxOperands) throw badRequest(`A query has at most ${maxOperands} operands.`)
    if (depth > maxDepth) throw badRequest(`Operations may be nested at most ${maxDepth} levels deep.`)
    const { name, content } = readOperator(written, at)
    const here = [...at, name]
    return readers[name]!(content, {
      at: here,
      read: (part, ...path) => this.read(part, [...here, ...path], depth + 1),
    })
  }
}

interface Reading {
  at: Location
  /** Reads a nested operand. `path` is its path in this operation. */
  read: (written: unknown, ...path: string[]) => Expression
}

const readers: Record<string, (content: unknown, reading: Reading) => Expression> = {
  $literal: (content, { at }) => ({ kind: 'literal', value: readLiteral(content, at) }),
  $getField: (content, { at }) => {
    if (typeof content !== 'string') throw issue(at, 'Input should be a valid string', 'string_type')
    return { kind: 'field', path: content }
  },
  $convert: readConvert,
  $and: (content, reading) => ({ kind: 'and', operands: readSeveral(content, reading) }),
  $or: (content, reading) => ({ kind: 'or', operands: readSeveral(content, reading) }),
  $not: (content, { at, read }) => ({ kind: 'not', operand: read(readList(content, at, 1)[0], '0') }),
  $eq: readComparison('$eq'),
  $gt: readComparison('$gt'),
  $gte: readComparison('$gte'),
  $lt: readComparison('$lt'),
  $lte: readComparison('$lte'),
  $in: (content, { at, read }) => {
    const [input, list] = readList(content, at, 2)
    const items = readList(list, [...at, '1']).map((item, index) => read(item, '1', String(index)))
    return { kind: 'in', input: read(input, '0'), list: items }
  },
  $contains: readContains,
}

function readOperator(written: unknown, at: Location): { name: string; content: unknown } {
  const known = Object.entries(readMembers(written, at)).filter(([name]) => Object.hasOwn(readers, name))
  const [found, another] = known
  if (!found) throw issue(at, `Input should be one of ${Object.keys(readers).join(', ')}`, 'union_tag_not_found')
  if (another) throw issue(at, `Input should be ${found[0]} or ${another[0]}, and not both`, 'union_tag_invalid')
  return { name: found[0], content: found[1] }
}

function readComparison(comparator: Comparator) {
  return (content: unknown, { at, read }: Reading): Expression => {
    const [left, right] = readList(content, at, 2)
    return { kind: 'compare', comparator, left: read(left, '0'), right: read(right, '1') }
  }
}

function readSeveral(content: unknown, { at, read }: Reading): Expression[] {
  const list = readList(content, at)
  if (list.length === 0) throw badRequest(`Empty ${at.at(-1)}: at least one operand is needed.`)
  return list.map((item, index) => read(item, String(index)))
}

function readConvert(content: unknown, { at, read }: Reading): Expression {
  const { input, to } = readMembers(content, at)
  const target = castTargets.find((name) => name === to)
  const names = castTargets.join(', ')
  if (!target) throw issue([...at, 'to'], `Input should be one of ${names}`, 'literal_error')
  return { kind: 'convert', input: read(input, 'input'), to: target }
}

function readContains(content: unknown, { at, read }: Reading): Expression {
  const { input, substr, case_insensitive: ignoresCase = null } = readMembers(content, at)
  if (ignoresCase !== null && typeof ignoresCase !== 'boolean') {
    throw issue([...at, 'case_insensitive'], 'Input should be a valid boolean', 'bool_type')
  }
  const [from, text] = [read(input, 'input'), read(substr, 'substr')]
  return { kind: 'contains', input: from, text, ignoresCase: ignoresCase ?? false }
}

function readLiteral(content: unknown, at: Location): Literal {
  const isScalar = content === null || ['string', 'number', 'boolean'].includes(typeof content)
  if (!isScalar) throw issue(at, 'Input should be a text, a number, a boolean or null', 'scalar_type')
  return content as Literal
}

function readMembers(written: unknown, at: Location): Record<string, unknown> {
  if (!isObject(written)) throw issue(at, 'Input should be a valid dictionary', 'dict_type')
  return written
}

function readList(written: unknown, at: Location, length?: number): unknown[] {
  if (!Array.isArray(written)) throw issue(at, 'Input should be a valid list', 'list_type')
  const isWrong = length !== undefined && written.length !== length
  if (isWrong) throw issue(at, `List should have ${length} items, not ${written.length}`, 'list_length')
  return written
}

function issue(at: Location, msg: string, type: string) {
  return unprocessable({ loc: [...at], msg, type })
}
