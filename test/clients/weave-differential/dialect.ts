import { convert, type Expression, field, literal } from './expressions.ts'
import type { Request } from './request.ts'

type Json = Record<string, unknown>
type Operands = [Expression, Expression]

/**
 * A translated request, which makes the reference do what the documents say, and the differences that require the
 * translation.
 */
export interface Translation {
  request: Request
  shows: string[]
}

/** Translates a request for calls. Other requests stay unchanged. */
export function translate(request: Request): Translation {
  if (!/^\/calls\/(stream_query|query|query_stats)$/.test(request.path)) return { request, shows: [] }
  const shows = new Set<string>()
  const { query, filter, ...rest } = request.body as { query?: { $expr: Expression }; filter?: Json | null }
  const conditions = typeof query?.$expr === 'object' ? [translateExpression(query.$expr, shows)] : []
  const { filter: plain, conditions: more } = moveThreads(filter, shows)
  const all = [...conditions, ...more]
  const body = {
    ...rest,
    ...(filter !== undefined && { filter: plain }),
    ...(query !== undefined && { query }),
    ...(all.length > 0 && { query: { $expr: all.length > 1 ? { $and: all } : all[0] } }),
  }
  return shows.size > 0 ? { request: { ...request, body }, shows: [...shows] } : { request, shows: [] }
}

/** The reference ignores two members of filters, but its queries know the columns. */
function moveThreads(filter: Json | null | undefined, shows: Set<string>) {
  if (!filter || Array.isArray(filter)) return { filter, conditions: [] }
  const { thread_ids, turn_ids, ...plain } = filter as Record<string, string[] | null>
  const lists = Object.entries({ thread_id: thread_ids, turn_id: turn_ids }).filter(([, ids]) => ids)
  if (lists.length > 0) shows.add('threads in filters')
  return { filter: plain, conditions: lists.map(([name, ids]) => ({ $in: [field(name), ids!.map(literal)] })) }
}

const swapped: Record<string, string> = { $lt: '$gt', $lte: '$gte' }

function translateExpression(expression: Expression, shows: Set<string>): Expression {
  const [operator, operands] = Object.entries(expression)[0] ?? []
  if (operator === '$and' || operator === '$or') {
    return { [operator]: (operands as Expression[]).map((operand) => translateExpression(operand, shows)) }
  }
  if (operator === '$not') return translateNot((operands as Expression[])[0], shows) ?? expression
  if (operator === '$eq') return translateEqual(operands as Operands, shows) ?? expression
  return operator !== undefined && /^\$[gl]te?$/.test(operator)
    ? translateOrder(operator, operands as Operands, shows)
    : expression
}

/** A missing text counts as empty, so that it differs from all other texts. For the reference it is null. */
function translateNot(inner: Expression | undefined, shows: Set<string>): Expression | undefined {
  if (inner === undefined) return undefined
  const plain = { $not: [translateExpression(inner, shows)] }
  const [left, right] = (inner.$eq ?? []) as Operands
  if (!isPayload(left) || typeof right?.$literal !== 'string' || right.$literal === '') return plain
  shows.add('missing text')
  return { $or: [plain, { $eq: [left, literal(null)] }] }
}

function translateEqual([left, right]: Operands, shows: Set<string>): Expression | undefined {
  if (!isPayload(left) || right?.$literal !== '') return undefined
  shows.add('missing text')
  return { $or: [{ $eq: [left, literal('')] }, { $eq: [left, literal(null)] }] }
}

function translateOrder(operator: string, operands: Operands, shows: Set<string>): Expression {
  const [left, right] = translateOperands(operands, shows)
  const other = swapped[operator]
  if (other === undefined) return { [operator]: [left, right] }
  shows.add('$lt and $lte')
  return { [other]: [right, left] }
}

/** Payload texts and times compare with numbers as numbers. The reference compares them as texts. */
function translateOperands([left, right]: Operands, shows: Set<string>): Operands {
  if (typeof right.$literal !== 'number') return [left, right]
  if (left.$getField === 'started_at') {
    shows.add('times as numbers')
    return [left, literal(pythonTime(right.$literal))]
  }
  if (!isPayload(left)) return [left, right]
  shows.add('numbers without $convert')
  return [convert(left.$getField, 'double'), right]
}

function isPayload(operand: Expression | undefined): operand is { $getField: string } {
  return /^(inputs|attributes|output)\./.test(String(operand?.$getField))
}

/** A time as the reference stores it: without a fraction if that is zero. */
function pythonTime(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString()
  return iso.endsWith('.000Z') ? iso.replace('.000Z', '+00:00') : iso.replace('Z', '000+00:00')
}
