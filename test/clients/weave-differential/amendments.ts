import type { Answer, Request } from './request.ts'

type Json = Record<string, unknown>

/** What makes the documented answer of what the reference answers, for one difference. */
export interface Amendment {
  /** The name of the difference. */
  shows: string
  /** Which answers it is about. */
  where: (request: Request, answer: Answer) => boolean
  documented: (answer: Answer, request: Request, ours: Answer) => Answer
}

export const amendments: Amendment[] = [
  {
    shows: 'sizes that nobody asked for',
    where: ({ path, body }) => path === '/calls/query_stats' && !(body as Json).include_total_storage_size,
    documented: ({ status, body }) => ({ status, body: without(body as Json, 'total_storage_size_bytes') }),
  },
  {
    shows: 'summaries that nobody asked for',
    where: ({ body }) => (body as { columns?: string[] }).columns?.includes('summary') === false,
    documented: changeRows((row) => without(row, 'summary')),
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
    shows: 'text that is no reference',
    where: ({ path, body }, { status }) => path === '/refs/read_batch' && status === 500 && hasPlainText(body),
    documented: ({ body }) => ({ status: 400, body }),
  },
  {
    shows: 'durations of turns',
    where: ({ path }) => path === '/threads/stream_query',
    // Which ones has tests of its own.
    documented: ({ status, body }, _request, ours) => {
      const durations = (ours.body as Json[]).map(({ p50_turn_duration_ms, p99_turn_duration_ms }) => ({
        p50_turn_duration_ms,
        p99_turn_duration_ms,
      }))
      return { status, body: (body as Json[]).map((row, index) => ({ ...row, ...durations[index] })) }
    },
  },
]

function without(record: Json, name: string): Json {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
}

const hasMaybe = ({ inputs }: { inputs: Json }) => 'maybe' in inputs
const asksForWord = (body: unknown) => (body as { fields?: string[] }).fields?.includes('payload.word') === true
const hasPlainText = (body: unknown) =>
  (body as { refs?: string[] }).refs?.some((ref) => !ref.includes(':///')) === true

function changeRows(change: (row: Json) => Json): Amendment['documented'] {
  return ({ status, body }) => ({ status, body: (body as Json[]).map(change) })
}

/** The documented answer, and the differences between it and the reference's. */
export function amend(request: Request, reference: Answer, ours: Answer): { expected: Answer; shows: string[] } {
  const isAnswered = (amendment: Amendment) =>
    reference.status === 200 || amendment.shows === 'text that is no reference'
  const applied = amendments.filter((amendment) => isAnswered(amendment) && amendment.where(request, reference))
  const expected = applied.reduce((answer, { documented }) => documented(answer, request, ours), reference)
  return { expected, shows: applied.map(({ shows }) => shows) }
}
