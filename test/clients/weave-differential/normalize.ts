import type { Answer, Request } from './request.ts'

type Json = Record<string, unknown>

/** Ids that a server generated, in the order in which they occurred. */
export type MadeIds = Map<string, string>

// The server sets these times. Only their presence is compared.
const serverTimes = new Set(['created_at', 'deleted_at'])
const clientTimes = new Set(['started_at', 'ended_at', 'start_time', 'last_updated'])

/**
 * Removes the parts of an answer that may differ between two correct servers: generated times and ids, null or absent
 * members, and error texts.
 */
export function normalize(request: Request, { status, body }: Answer, made: MadeIds): Answer {
  if (status === 422) return { status, body: 'refused shape' }
  if (status >= 400) return { status, body: Object.keys(body as Json).sort() }
  recordIds(request, body as Json, made)
  const normalized = normalizeBody(body, made)
  const isAnyOrder = Array.isArray(normalized) && isUnsorted(request)
  return { status, body: isAnyOrder ? (normalized as Json[]).toSorted(byId) : normalized }
}

/** With an empty sort list, any order is correct. */
const isUnsorted = ({ body }: Request) => (body as { sort_by?: unknown[] }).sort_by?.length === 0

const byId = (a: Json, b: Json) => ((a.id as string) < (b.id as string) ? -1 : 1)

/** Feedback is the only thing here whose ids the server generates. */
function recordIds({ path, body: asked }: Request, body: Json, made: MadeIds): void {
  if (path !== '/feedback/create' && path !== '/feedback/replace') return
  if (!(asked as Json).id) made.set(body.id as string, `<made ${made.size + 1}>`)
}

/** A record is the whole body, an item of a list, or in a member: {call}, {obj}, {objs: […]}. */
function normalizeBody(body: unknown, made: MadeIds): unknown {
  if (Array.isArray(body)) return body.map((row: Json) => normalizeRecord(row, made))
  if (typeof body !== 'object' || body === null) return body
  const members = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(members.map(([key, value]) => [key, normalizeMember(key, value, made)]))
}

const listsOfRecords = new Set(['calls', 'objs', 'res', 'result', 'rows'])

function normalizeMember(key: string, value: unknown, made: MadeIds): unknown {
  // The order of table sizes is not specified.
  if (key === 'tables')
    return (value as Json[]).toSorted((a, b) => ((a.digest as string) < (b.digest as string) ? -1 : 1))
  if (listsOfRecords.has(key)) return (value as Json[]).map((row) => normalizeRecord(row, made))
  return key === 'call' || key === 'obj' ? normalizeRecord(value as Json, made) : normalizeField(key, value, made)
}

function normalizeRecord(record: Json, made: MadeIds): Json {
  const members = Object.entries(record).filter(([, value]) => value !== null)
  return Object.fromEntries(members.map(([key, value]) => [key, normalizeField(key, value, made)]))
}

function normalizeField(key: string, value: unknown, made: MadeIds): unknown {
  if (serverTimes.has(key)) return '<time>'
  if (clientTimes.has(key)) return microsecondsOf(value as string)
  if (key === 'summary') return normalizeSummary(value as Json, made)
  if (key === 'payload') return dropEmojiNames(value)
  return key === 'id' ? (made.get(value as string) ?? value) : value
}

/** Only the reference names the emoji of a reaction. */
function dropEmojiNames(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('emoji' in payload)) return payload
  const { alias: _, detoned: _detoned, detoned_alias: _detonedAlias, ...rest } = payload as Json
  return rest
}

function normalizeSummary({ weave, ...rest }: Json, made: MadeIds): Json {
  if (typeof weave !== 'object' || weave === null) return rest
  const members = Object.entries(weave).filter(([, value]) => value !== null)
  const derived = members.map(([key, value]) => [key, key === 'feedback' ? sortFeedback(value as Json[], made) : value])
  return { ...rest, weave: Object.fromEntries(derived) as Json }
}

/** The order of a call's feedback is not specified. */
function sortFeedback(rows: Json[], made: MadeIds): Json[] {
  const normalized = rows.map((row) => normalizeRecord(row, made))
  return normalized.toSorted(byId)
}

/** Converts a time with any zone and precision to microseconds. */
function microsecondsOf(text: string): number {
  const digits = /\.(\d+)/.exec(text)?.[1] ?? ''
  const seconds = Date.parse(text.replace(/\.\d+/, '').replace(' ', 'T'))
  return seconds * 1000 + Number(digits.padEnd(6, '0').slice(0, 6))
}
