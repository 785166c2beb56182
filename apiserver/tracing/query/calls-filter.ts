import { badRequest } from '../errors.ts'
import { Type, type Static } from 'typebox'
import { weeksOf } from '../../../db/tracing/week.ts'
import { optional } from '../schema.ts'
import type { SqlParams } from './params.ts'
import { planOnce } from './plan-once.ts'

const namesSchema = optional(Type.Array(Type.String()))

/** The common conditions on calls. All members must match. */
export const callsFilterSchema = Type.Object({
  op_names: namesSchema,
  input_refs: namesSchema,
  output_refs: namesSchema,
  parent_ids: namesSchema,
  trace_ids: namesSchema,
  call_ids: namesSchema,
  thread_ids: namesSchema,
  turn_ids: namesSchema,
  wb_user_ids: namesSchema,
  wb_run_ids: namesSchema,
  trace_roots_only: optional(Type.Boolean()),
})

export type CallsFilter = Static<typeof callsFilterSchema>

const maxNames = 1_000

type Names = Exclude<keyof CallsFilter, 'trace_roots_only'>

const writers: Record<Names, (values: string[], params: SqlParams) => string> = {
  op_names: writeOpNames,
  input_refs: (values, params) => `c.input_refs && ${params.add(values)}::text[]`,
  output_refs: (values, params) => `c.output_refs && ${params.add(values)}::text[]`,
  parent_ids: isOneOf('c.parent_id'),
  trace_ids: isOneOf('c.trace_id'),
  // The partitions follow from the ids.
  call_ids: (values, params) =>
    `c.week = ANY (${params.add(weeksOf(values))}::smallint[]) AND c.id = ANY (${params.add(values)}::text[])`,
  thread_ids: isOneOf('c.thread_id'),
  turn_ids: isOneOf('c.turn_id'),
  wb_user_ids: isOneOf('c.wb_user_id'),
  wb_run_ids: isOneOf('c.wb_run_id'),
}

/** Compiles conditions on `tracing.calls c`. @throws {HttpError} 400 for more than 1,000 names */
export function compileCallsFilter(filter: CallsFilter, params: SqlParams): string[] {
  const conditions = (Object.keys(writers) as Names[]).flatMap((name) => {
    const values = filter[name]
    if (!values) return []
    checkLength(name, values)
    // An empty list of threads or turns matches no call. Other empty lists are ignored.
    if (values.length === 0) return name === 'thread_ids' || name === 'turn_ids' ? ['FALSE'] : []
    return [writers[name](values, params)]
  })
  return filter.trace_roots_only ? [...conditions, 'c.parent_id IS NULL'] : conditions
}

function checkLength(name: string, { length }: string[]): void {
  if (length <= maxNames) return
  const words = `request length is greater than max length (${maxNames}). Actual length: ${length}`
  throw badRequest(`Parameter: '${name}' ${words}`)
}

function isOneOf(column: string) {
  return (values: string[], params: SqlParams) => `${column} = ANY (${params.add(values)}::text[])`
}

/**
 * `…:*` matches any version of an op. The condition is a range from `…:` to `…;`, the next character, so that an index
 * serves it. It also matches spans of OpenTelemetry with the name of the op.
 */
function writeOpNames(values: string[], params: SqlParams): string {
  const exact = values.filter((value) => !value.endsWith(':*'))
  const anyVersion = values.filter((value) => value.endsWith(':*')).map((value) => value.slice(0, -2))
  const ranges = anyVersion.map(
    (name) => `(c.op_name >= ${params.add(`${name}:`)}::text AND c.op_name < ${params.add(`${name};`)}::text)`,
  )
  const parts = exact.length > 0 ? [isOneOf('c.op_name')(exact, params), ...ranges] : ranges
  const spans = anyVersion.flatMap(readOpName)
  if (spans.length > 0) parts.push(`(${isOneOf('c.op_name')(spans, params)} AND ${isSpan})`)
  return parts.length === 1 ? parts[0]! : planOnce(`(${parts.join(' OR ')})`)
}

// A large span is in the artifact store.
const isSpan = "(c.otel_dump IS NOT NULL OR c.spilled ? 'otel_dump')"

/** The name in a reference to an op. A list, which is empty for other texts. */
function readOpName(reference: string): string[] {
  const written = /^weave:\/\/\/[^/]+\/[^/]+\/op\/(.+)$/s.exec(reference)?.[1]
  return written === undefined ? [] : [decodeName(written)]
}

function decodeName(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}
