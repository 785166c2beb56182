import { convert, type Expression, field, literal } from './expressions.ts'
import type { Request } from './request.ts'

type Json = Record<string, unknown>
type Operands = [Expression, Expression]

/** A request in words that make the reference do what the documents say, and the differences that made it necessary. */
export interface Translation {
  request: Request
  shows: string[]
}

/** Says in the reference's dialect what a request for calls asks; other requests stay as they are. */
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

/** The reference overlooks two members of filters, but its queries know the columns. */
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

/** A text that is missing counts as empty, so that it is unequal to all others; for the reference it is null. */
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

/** Payload text and times are compared with numbers as numbers; by the reference, as text. */
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

/** As the reference stores times: no fraction when it is zero. */
function pythonTime(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString()
  return iso.endsWith('.000Z') ? iso.replace('.000Z', '+00:00') : iso.replace('Z', '000+00:00')
}
