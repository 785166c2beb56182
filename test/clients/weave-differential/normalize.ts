import type { Answer, Request } from './request.ts'

type Json = Record<string, unknown>

/** Ids that a server made itself, in the order in which a run met them. */
export type MadeIds = Map<string, string>

// Members of records whose time the server decides; only that there is one counts.
const serverTimes = new Set(['created_at', 'deleted_at'])
const clientTimes = new Set(['started_at', 'ended_at', 'start_time', 'last_updated'])

/** An answer without what two right servers differ in: times and ids of their own, null or absent, the text of errors. */
export function normalize(request: Request, { status, body }: Answer, made: MadeIds): Answer {
  if (status === 422) return { status, body: 'refused shape' }
  if (status >= 400) return { status, body: Object.keys(body as Json).sort() }
  recordIds(request, body as Json, made)
  const normalized = normalizeBody(body, made)
  const isAnyOrder = Array.isArray(normalized) && isUnsorted(request)
  return { status, body: isAnyOrder ? (normalized as Json[]).toSorted(byId) : normalized }
}

/** An empty list of what to sort by allows any order. */
const isUnsorted = ({ body }: Request) => (body as { sort_by?: unknown[] }).sort_by?.length === 0

const byId = (a: Json, b: Json) => ((a.id as string) < (b.id as string) ? -1 : 1)

/** Writes of feedback are the only requests here that leave ids to the server. */
function recordIds({ path, body: asked }: Request, body: Json, made: MadeIds): void {
  if (path !== '/feedback/create' && path !== '/feedback/replace') return
  if (!(asked as Json).id) made.set(body.id as string, `<made ${made.size + 1}>`)
}

/** Records stand at the top, or in a list at the top, or in one of its members: {call}, {obj}, {objs: […]}. */
function normalizeBody(body: unknown, made: MadeIds): unknown {
  if (Array.isArray(body)) return body.map((row: Json) => normalizeRecord(row, made))
  if (typeof body !== 'object' || body === null) return body
  const members = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(members.map(([key, value]) => [key, normalizeMember(key, value, made)]))
}

const listsOfRecords = new Set(['calls', 'objs', 'res', 'result', 'rows'])

function normalizeMember(key: string, value: unknown, made: MadeIds): unknown {
  // Sizes of tables come in no promised order.
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
  return key === 'id' ? (made.get(value as string) ?? value) : value
}

function normalizeSummary({ weave, ...rest }: Json, made: MadeIds): Json {
  if (typeof weave !== 'object' || weave === null) return rest
  const members = Object.entries(weave).filter(([, value]) => value !== null)
  const derived = members.map(([key, value]) => [key, key === 'feedback' ? sortFeedback(value as Json[], made) : value])
  return { ...rest, weave: Object.fromEntries(derived) as Json }
}

/** Feedback of a call comes in no promised order. */
function sortFeedback(rows: Json[], made: MadeIds): Json[] {
  const normalized = rows.map((row) => normalizeRecord(row, made))
  return normalized.toSorted(byId)
}

/** A time as a number of microseconds, whatever its zone and digits. */
function microsecondsOf(text: string): number {
  const digits = /\.(\d+)/.exec(text)?.[1] ?? ''
  const seconds = Date.parse(text.replace(/\.\d+/, '').replace(' ', 'T'))
  return seconds * 1000 + Number(digits.padEnd(6, '0').slice(0, 6))
}
