import { callStatuses, isObject, readRef, type CallStatus } from './calls.ts'

// The state of the table of calls, as a person sets it, and the request that means it. Saved views hold the request, as
// weave's own views do. So both directions are here.

export interface CallFilters {
  /** Only calls that have no parent. */
  rootsOnly: boolean
  ops: string[]
  statuses: CallStatus[]
  models: string[]
  threads: string[]
  /** A text in the inputs, the output, the name or the exception. */
  text?: string | undefined
  minTokens?: number | undefined
  minLatencyMs?: number | undefined
  maxLatencyMs?: number | undefined
  feedback?: FeedbackChoice | undefined
  /** From this time on, as an ISO text. */
  from?: string | undefined
  /** Before this time. */
  to?: string | undefined
  /** Conditions that none of these express. */
  others: unknown[]
  /** Members of the filter that none of these express. */
  otherFilter: Record<string, string[]>
}

export const feedbackChoices = ['any', '👍', '👎', 'note'] as const
export type FeedbackChoice = (typeof feedbackChoices)[number]

export interface CallsRequest {
  filter: Record<string, unknown>
  query?: { $expr: unknown }
}

export const noFilters: CallFilters = {
  rootsOnly: false,
  ops: [],
  statuses: [],
  models: [],
  threads: [],
  others: [],
  otherFilter: {},
}

const field = (name: string) => ({ $getField: name })
const literal = (value: string | number | boolean) => ({ $literal: value })
const eq = (name: string, value: string | number) => ({ $eq: [field(name), literal(value)] })
const atLeast = (name: string, value: string | number) => ({ $gte: [field(name), literal(value)] })
const below = (name: string, value: string | number) => ({ $not: [atLeast(name, value)] })

const usagePath = (model: string) => `summary.usage.${model.replaceAll('.', '\\.')}`
const uses = (model: string) => ({
  $eq: [{ $convert: { input: field(usagePath(model)), to: 'exists' } }, literal(true)],
})
const textFields = ['inputs', 'output', 'op_name', 'display_name', 'exception']
const contains = (name: string, text: string) => ({
  $contains: { input: field(name), substr: literal(text), case_insensitive: true },
})

const reactions = 'feedback.[wandb.reaction.1].payload.emoji'
const notes = 'feedback.[wandb.note.1].payload.note'
const exists = (name: string) => ({ $eq: [{ $convert: { input: field(name), to: 'exists' } }, literal(true)] })
const feedbackConditions: Record<FeedbackChoice, unknown> = {
  any: { $or: [exists(reactions), exists(notes)] },
  '👍': eq(reactions, '👍'),
  '👎': eq(reactions, '👎'),
  note: exists(notes),
}

const anyOf = <T>(values: readonly T[], write: (value: T) => unknown): unknown =>
  values.length === 1 ? write(values[0]!) : { $or: values.map(write) }

/** Writes the request for the calls that a person wants. `project` is `ENTITY/PROJECT`. */
export function writeRequest(wanted: CallFilters, project: string): CallsRequest {
  const filter = {
    ...wanted.otherFilter,
    ...(wanted.rootsOnly && { trace_roots_only: true }),
    ...(wanted.threads.length > 0 && { thread_ids: wanted.threads }),
    ...(wanted.ops.length > 0 && { op_names: wanted.ops.flatMap((op) => [writeOpRef(project, op), op]) }),
  }
  const conditions = listConditions(wanted)
  return conditions.length === 0 ? { filter } : { filter, query: { $expr: { $and: conditions } } }
}

function listConditions(wanted: CallFilters): unknown[] {
  const { statuses, models, text, minTokens, minLatencyMs, maxLatencyMs, feedback, from, to, others } = wanted
  return [
    ...(statuses.length > 0 ? [anyOf(statuses, (status) => eq('summary.weave.status', status))] : []),
    ...(models.length > 0 ? [anyOf(models, uses)] : []),
    ...(text !== undefined ? [anyOf(textFields, (name) => contains(name, text))] : []),
    ...(minTokens !== undefined ? [atLeast('summary.weave.total_tokens', minTokens)] : []),
    ...(minLatencyMs !== undefined ? [atLeast('summary.weave.latency_ms', minLatencyMs)] : []),
    ...(maxLatencyMs !== undefined ? [below('summary.weave.latency_ms', maxLatencyMs)] : []),
    ...(feedback !== undefined ? [feedbackConditions[feedback]] : []),
    ...(from !== undefined ? [atLeast('started_at', from)] : []),
    ...(to !== undefined ? [below('started_at', to)] : []),
    ...others,
  ]
}

/** All versions of an op. */
function writeOpRef(project: string, op: string): string {
  return `weave:///${project}/op/${encodeURIComponent(op)}:*`
}

/** Reads a request: the parts that a person can set, and the rest as it is. */
export function readRequest({ filter, query }: { filter?: unknown; query?: unknown }): CallFilters {
  const wanted: CallFilters = { ...noFilters, others: [], otherFilter: {} }
  readFilter(wanted, isObject(filter) ? filter : {})
  const expression = isObject(query) ? query['$expr'] : undefined
  const conditions = isObject(expression) && Array.isArray(expression['$and']) ? expression['$and'] : [expression]
  for (const condition of conditions) {
    if (condition !== undefined && !readers.some((read) => read(wanted, condition))) wanted.others.push(condition)
  }
  return wanted
}

// Links of W&B's own interface have other names for the members of a filter.
const otherNames: Readonly<Record<string, string>> = {
  opVersionRefs: 'op_names',
  inputObjectVersionRefs: 'input_refs',
  outputObjectVersionRefs: 'output_refs',
  parentId: 'parent_ids',
  traceId: 'trace_ids',
  traceRootsOnly: 'trace_roots_only',
  userIds: 'wb_user_ids',
  runIds: 'wb_run_ids',
}
const otherMembers = [
  'input_refs',
  'output_refs',
  'parent_ids',
  'trace_ids',
  'call_ids',
  'turn_ids',
  'wb_user_ids',
  'wb_run_ids',
]

function readFilter(wanted: CallFilters, given: Record<string, unknown>): void {
  const rename = (name: string) => (Object.hasOwn(otherNames, name) ? otherNames[name]! : name)
  const filter = Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), value]))
  wanted.rootsOnly = filter['trace_roots_only'] === true
  wanted.threads = listTexts(filter['thread_ids'])
  wanted.ops = [...new Set(listTexts(filter['op_names']).map((name) => readRef(name)?.name ?? name))]
  const others = otherMembers.map((name) => [name, listTexts(filter[name])] as const)
  wanted.otherFilter = Object.fromEntries(others.filter(([, values]) => values.length > 0))
}

type Reader = (wanted: CallFilters, condition: unknown) => boolean

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The operands of `$or`, or the condition itself. */
function listChoices(condition: unknown): unknown[] {
  return isObject(condition) && Array.isArray(condition['$or']) ? (condition['$or'] as unknown[]) : [condition]
}

/** Reads alternatives that are all written by `write`. */
function readChoices<T>(condition: unknown, read: (choice: unknown) => T | undefined, write: (value: T) => unknown) {
  const values = listChoices(condition).map(read)
  const known = values.filter((value) => value !== undefined)
  return known.length > 0 && known.length === values.length && isSame(anyOf(known, write), condition)
    ? known
    : undefined
}

const readStatuses: Reader = (wanted, condition) => {
  const statuses = readChoices(
    condition,
    (choice) => callStatuses.find((status) => isSame(choice, eq('summary.weave.status', status))),
    (status) => eq('summary.weave.status', status),
  )
  if (statuses) wanted.statuses = statuses
  return statuses !== undefined
}

const readModels: Reader = (wanted, condition) => {
  const models = readChoices(condition, readModel, uses)
  if (models) wanted.models = models
  return models !== undefined
}

function readModel(choice: unknown): string | undefined {
  const path = find(choice, '$eq', 0, '$convert', 'input', '$getField')
  return typeof path === 'string' && path.startsWith('summary.usage.')
    ? path.slice('summary.usage.'.length).replaceAll('\\.', '.')
    : undefined
}

const readText: Reader = (wanted, condition) => {
  const text = find(condition, '$or', 0, '$contains', 'substr', '$literal')
  if (
    typeof text !== 'string' ||
    !isSame(
      condition,
      anyOf(textFields, (name) => contains(name, text)),
    )
  )
    return false
  wanted.text = text
  return true
}

const readFeedback: Reader = (wanted, condition) => {
  const choice = feedbackChoices.find((name) => isSame(feedbackConditions[name], condition))
  if (choice) wanted.feedback = choice
  return choice !== undefined
}

function readBound<Name extends 'minTokens' | 'minLatencyMs' | 'maxLatencyMs' | 'from' | 'to'>(
  name: Name,
  type: 'number' | 'string',
  path: string,
  write: (path: string, value: string | number) => unknown,
): Reader {
  return (wanted, condition) => {
    const value = find(condition, '$gte', 1, '$literal') ?? find(condition, '$not', 0, '$gte', 1, '$literal')
    if (typeof value !== type || !isSame(condition, write(path, value as string | number))) return false
    wanted[name] = value as CallFilters[Name]
    return true
  }
}

const readers: Reader[] = [
  readStatuses,
  readModels,
  readText,
  readFeedback,
  readBound('minTokens', 'number', 'summary.weave.total_tokens', atLeast),
  readBound('minLatencyMs', 'number', 'summary.weave.latency_ms', atLeast),
  readBound('maxLatencyMs', 'number', 'summary.weave.latency_ms', below),
  readBound('from', 'string', 'started_at', atLeast),
  readBound('to', 'string', 'started_at', below),
]

/** The texts of a list. A single text is a list of one. */
function listTexts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string')
}

function find(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, step) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[step] : undefined,
    value,
  )
}
