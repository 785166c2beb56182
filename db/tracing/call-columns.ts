import type { Column, SqlType } from '../columns.ts'

interface CallColumn<Value, Name extends string> extends Column<Value> {
  readonly name: Name
}

interface Optional {
  readonly optional: true
}

type CallColumns = Readonly<Record<string, CallColumn<unknown, string>>>

const text = <Name extends string>(name: Name): CallColumn<string, Name> => ({ name, type: 'text' })
const bigint = <Name extends string>(name: Name): CallColumn<number, Name> => ({ name, type: 'bigint' })
/** An ISO text in UTC with microseconds. */
const time = <Name extends string>(name: Name): CallColumn<string, Name> => ({ name, type: 'timestamptz' })
const refs = <Name extends string>(name: Name): CallColumn<string[] | undefined, Name> => ({ name, type: 'text[]' })
const boolean = <Name extends string>(name: Name): CallColumn<boolean, Name> => ({ name, type: 'boolean' })
const nullable = <Value, Name extends string>(column: CallColumn<Value, Name>): CallColumn<Value | null, Name> => column
const optional = <Each extends CallColumn<unknown, string>>(column: Each): Each & Optional => ({
  ...column,
  optional: true,
})

/** The columns that a call's start sets, except payloads. */
export const startColumns = {
  traceId: text('trace_id'),
  parentId: optional(text('parent_id')),
  threadId: optional(text('thread_id')),
  turnId: optional(text('turn_id')),
  opName: text('op_name'),
  displayName: nullable(text('display_name')),
  startedAt: time('started_at'),
  inputRefs: refs('input_refs'),
  wbUserId: text('wb_user_id'),
  wbRunId: optional(text('wb_run_id')),
  wbRunStep: optional(bigint('wb_run_step')),
}

/** The columns that a call's end sets. */
export const endColumns = {
  endedAt: time('ended_at'),
  exception: optional(text('exception')),
  outputRefs: refs('output_refs'),
  descendantErrors: boolean('descendant_errors'),
  wbRunStepEnd: optional(bigint('wb_run_step_end')),
}

/** The payload columns of starts and ends. They are JSON texts in UTF-8. */
export const startPayloads = ['attributes', 'inputs', 'otel_dump'] as const
export const endPayloads = ['output', 'summary'] as const
export type Payload = (typeof startPayloads)[number] | (typeof endPayloads)[number]

/** The payloads that clients name. The OpenTelemetry span is shown as a part of the attributes. */
export const clientPayloads = ['attributes', 'inputs', 'output', 'summary'] as const satisfies readonly Payload[]

/** A row of these columns as it is written. */
export type PartRow<Columns extends CallColumns> = {
  -readonly [Field in RequiredField<Columns>]: ValueOf<Columns[Field]>
} & {
  -readonly [Field in Exclude<keyof Columns, RequiredField<Columns>>]?: ValueOf<Columns[Field]> | null | undefined
}

/** A row as it is read: under its SQL names, and only with the requested columns. */
export type StoredPart<Columns extends CallColumns> = {
  -readonly [Field in keyof Columns as Columns[Field]['name']]?: ValueOf<Columns[Field]> | null
}

type RequiredField<Columns extends CallColumns> = {
  [Field in keyof Columns]: Columns[Field] extends Optional ? never : Field
}[keyof Columns]

type ValueOf<Each> = Each extends Column<infer Value> ? Value : never

/** A column that clients can name, and the type of its values. */
export interface ClientColumn {
  name: string
  type: SqlType
}

const notForClients: ReadonlySet<SqlType> = new Set(['text[]', 'boolean'])

/** The columns that clients can name in lists and queries, besides the payloads. */
export const clientColumns: readonly ClientColumn[] = [
  text('id'),
  ...Object.values(startColumns),
  ...Object.values(endColumns),
].filter(({ type }) => !notForClients.has(type))

/** The columns that every visible call has. */
export const columnsOfEveryCall = ['id', 'trace_id', 'op_name', 'started_at'] as const
