import { callStatuses } from './calls.ts'
import { feedbackChoices, noFilters, readRequest, type CallFilters } from './call-query.ts'
import { readList, readOrder, writeList, type Order } from './search.ts'

/** The names of what the address of a table of calls holds. */
export const callSearchNames = [
  'q',
  'op',
  'status',
  'model',
  'thread',
  'tokens',
  'slower',
  'faster',
  'feedback',
  'cost',
  'from',
  'to',
  'sort',
  'cols',
  'peek',
  'tab',
  'view',
  'filter',
  'query',
] as const

export type CallSearch = { [Name in (typeof callSearchNames)[number]]?: string | undefined }

/** The columns that are always there. Others are paths. */
export const callColumns = ['name', 'status', 'model', 'tokens', 'cost', 'latency', 'feedback', 'started'] as const

const newestFirst: Order = { column: 'started', descending: true }

/** Reads the filters of an address. `filter` and `query` are those of old links and of weave's views. */
export function readFilters(search: CallSearch, rootsOnly: boolean): CallFilters {
  const given = readRequest({ filter: readJson(search.filter), query: readJson(search.query) })
  const set = {
    ops: readNames(search.op),
    statuses: callStatuses.filter((status) => readList(search.status).includes(status)),
    models: readNames(search.model),
    threads: readNames(search.thread),
  }
  return {
    ...given,
    rootsOnly: rootsOnly || given.rootsOnly,
    ops: set.ops.length > 0 ? set.ops : given.ops,
    statuses: set.statuses.length > 0 ? set.statuses : given.statuses,
    models: set.models.length > 0 ? set.models : given.models,
    threads: set.threads.length > 0 ? set.threads : given.threads,
    text: search.q ?? given.text,
    minTokens: readNumber(search.tokens) ?? given.minTokens,
    minLatencyMs: readNumber(search.slower) ?? given.minLatencyMs,
    maxLatencyMs: readNumber(search.faster) ?? given.maxLatencyMs,
    feedback: feedbackChoices.find((choice) => choice === search.feedback) ?? given.feedback,
    from: readTime(search.from) ?? given.from,
    to: readTime(search.to) ?? given.to,
  }
}

/** Writes filters into an address: each under its own name, and what has none as JSON. */
export function writeFilters(wanted: CallFilters): CallSearch {
  const { others, otherFilter } = wanted
  return {
    q: wanted.text,
    op: writeNames(wanted.ops),
    status: writeList(wanted.statuses),
    model: writeNames(wanted.models),
    thread: writeNames(wanted.threads),
    tokens: wanted.minTokens?.toString(),
    slower: wanted.minLatencyMs?.toString(),
    faster: wanted.maxLatencyMs?.toString(),
    feedback: wanted.feedback,
    from: wanted.from,
    to: wanted.to,
    filter: Object.keys(otherFilter).length === 0 ? undefined : JSON.stringify(otherFilter),
    query: others.length === 0 ? undefined : JSON.stringify({ $expr: { $and: others } }),
  }
}

/** Whether anything is filtered. */
export function isFiltered(wanted: CallFilters): boolean {
  return JSON.stringify({ ...wanted, rootsOnly: false }) !== JSON.stringify(noFilters)
}

// Names of ops, models and threads may have commas.
const readNames = (text: string | undefined) => readList(text).map((name) => decodeName(name))
const writeNames = (names: readonly string[]) =>
  writeList(names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')))

function decodeName(name: string): string {
  return name.replaceAll('%2C', ',').replaceAll('%25', '%')
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined
}

function readTime(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined
}

function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const sortFields: Readonly<Record<string, string>> = {
  name: 'summary.weave.trace_name',
  status: 'summary.weave.status',
  tokens: 'summary.weave.total_tokens',
  latency: 'summary.weave.latency_ms',
  started: 'started_at',
}

/** The order of an address. Columns of payloads sort by their paths. */
export function readCallOrder(sort: string | undefined, paths: readonly string[]): Order {
  return readOrder(sort, [...Object.keys(sortFields), ...paths], newestFirst)
}

/** The order as the API has it. */
export function writeSortBy({ column, descending }: Order): { field: string; direction: 'asc' | 'desc' }[] {
  return [{ field: sortFields[column] ?? column, direction: descending ? 'desc' : 'asc' }]
}

export function isSortable(column: string): boolean {
  return Object.hasOwn(sortFields, column) || !(callColumns as readonly string[]).includes(column)
}

const skeleton = [
  'id',
  'trace_id',
  'parent_id',
  'op_name',
  'display_name',
  'thread_id',
  'started_at',
  'ended_at',
  'exception',
  'summary.usage',
]

/** What a table reads of a call: no payload, except for the columns that a person adds. */
export function writeColumns(paths: readonly string[]): string[] {
  return [...skeleton, ...paths]
}

/** The calls that a link to another screen of weave is about. */
export function findSubstitute(path: string): { label: string; search: CallSearch } {
  const [kind, name = ''] = path.split('/')
  if (kind === 'ops' && name !== '') return { label: `Show the calls of ${name}`, search: { op: writeNames([name]) } }
  if (kind === 'threads' && name !== '')
    return { label: `Show the thread ${name}`, search: { thread: writeNames([name]) } }
  if (kind === 'evaluations') return { label: 'Show the evaluations', search: { op: 'Evaluation.evaluate' } }
  return { label: 'Show all calls', search: {} }
}
