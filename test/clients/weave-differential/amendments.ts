import type { Answer, Request } from './request.ts'

type Json = Record<string, unknown>

/** For one difference, turns the reference's answer into the documented answer. */
export interface Amendment {
  /** The name of the difference. */
  shows: string
  /** Selects the answers that the difference affects. */
  where: (request: Request, answer: Answer) => boolean
  documented: (answer: Answer, request: Request, ours: Answer) => Answer
}

export const amendments: Amendment[] = [
  {
    shows: 'unrequested sizes',
    where: ({ path, body }) => path === '/calls/query_stats' && !(body as Json).include_total_storage_size,
    documented: ({ status, body }) => ({ status, body: without(body as Json, 'total_storage_size_bytes') }),
  },
  {
    shows: 'unrequested summaries',
    where: ({ body }) => isWithoutSummary((body as { columns?: string[] }).columns ?? []),
    documented: changeRows((row) => without(row, 'summary')),
  },
  {
    shows: 'references to deleted objects in lists of calls',
    where: ({ body }) => Array.isArray((body as { expand_columns?: string[] }).expand_columns),
    documented: changeRows(({ inputs, output, ...row }) => ({
      ...row,
      inputs: emptyLoneRefs(inputs),
      ...(output !== undefined && { output: emptyLoneRefs(output) }),
    })),
  },
  {
    shows: 'missing values in sorting',
    where: ({ body }) => (body as { sort_by?: { field: string }[] }).sort_by?.[0]?.field === 'inputs.maybe',
    documented: ({ status, body }) => {
      const rows = body as { inputs: Json }[]
      return { status, body: [...rows.filter(hasMaybe), ...rows.filter((row) => !hasMaybe(row))] }
    },
  },
  {
    shows: 'missing text in fields of feedback',
    where: ({ path, body }) => path === '/feedback/query' && asksForWord(body),
    documented: ({ status, body }) => {
      const { result } = body as { result: Json[] }
      return { status, body: { result: result.map((row) => ({ 'payload.word': '', ...row })) } }
    },
  },
  {
    shows: 'invalid references',
    where: ({ path, body }, { status }) => path === '/refs/read_batch' && status === 500 && hasPlainText(body),
    documented: ({ body }) => ({ status: 400, body }),
  },
  // Tests of threads check the correct answer.
  {
    shows: 'durations of turns',
    where: ({ path }) => path === '/threads/stream_query',
    documented: copyMembers('p50_turn_duration_ms', 'p99_turn_duration_ms'),
  },
  {
    shows: 'turns outside of the requested times',
    where: ({ path, body }) => path === '/threads/stream_query' && hasTimes(body),
    documented: copyMembers('first_turn_id', 'last_turn_id'),
  },
]

function without(record: Json, name: string): Json {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
}

/** An object that only consists of its own ref becomes empty. */
function emptyLoneRefs(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value)
  if (members.length === 1 && members[0]![0] === '_ref') return null
  return Object.fromEntries(members.map(([key, member]) => [key, emptyLoneRefs(member)]))
}

/** Copies members from the answer here that cannot be derived from the reference's answer. */
function copyMembers(...names: string[]): Amendment['documented'] {
  return ({ status, body }, _request, ours) => {
    const copyFrom = (row: Json = {}) => Object.fromEntries(names.map((name) => [name, row[name]]))
    const rows = (body as Json[]).map((row, index) => ({ ...row, ...copyFrom((ours.body as Json[])[index]) }))
    return { status, body: rows }
  }
}

const isWithoutSummary = (columns: string[]) => columns.length > 0 && !columns.includes('summary')
const hasTimes = (body: unknown) => /"(after|before)_datetime"/.test(JSON.stringify(body))
const hasMaybe = ({ inputs }: { inputs: Json }) => 'maybe' in inputs
const asksForWord = (body: unknown) => (body as { fields?: string[] }).fields?.includes('payload.word') === true
const hasPlainText = (body: unknown) =>
  (body as { refs?: string[] }).refs?.some((ref) => !ref.includes(':///')) === true

function changeRows(change: (row: Json) => Json): Amendment['documented'] {
  return ({ status, body }) => ({ status, body: (body as Json[]).map(change) })
}

/** Returns the documented answer, and the names of its differences from the reference's answer. */
export function amend(request: Request, reference: Answer, ours: Answer): { expected: Answer; shows: string[] } {
  const isAnswered = (amendment: Amendment) => reference.status === 200 || amendment.shows === 'invalid references'
  const applied = amendments.filter((amendment) => isAnswered(amendment) && amendment.where(request, reference))
  const expected = applied.reduce((answer, { documented }) => documented(answer, request, ours), reference)
  return { expected, shows: applied.map(({ shows }) => shows) }
}
