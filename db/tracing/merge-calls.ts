import type { Connection } from '../pool.ts'
import type { CallRow, Payload } from './call-rows.ts'
import { bytesOfCall, countChanged } from './stored-bytes.ts'
import { retryDuringPartitionCreation } from './create-partitions.ts'

type Value = string | number | boolean | null

type Column = [name: string, type: string, read: (row: CallRow) => unknown]

const payload = (name: Payload): Column => [name, 'json', ({ payloads }) => payloads[name]?.toString()]

// Each column with its type, and what it is in a row. Arrays are passed as JSON: an array of arrays has another meaning.
const startColumns: Column[] = [
  ['trace_id', 'text', ({ start }) => start?.traceId],
  ['parent_id', 'text', ({ start }) => start?.parentId],
  ['thread_id', 'text', ({ start }) => start?.threadId],
  ['turn_id', 'text', ({ start }) => start?.turnId],
  ['op_name', 'text', ({ start }) => start?.opName],
  ['started_at', 'timestamptz', ({ start }) => start?.startedAt],
  payload('attributes'),
  payload('inputs'),
  payload('otel_dump'),
  ['input_refs', 'text[]', ({ start }) => start?.inputRefs],
  ['wb_user_id', 'text', ({ start }) => start?.wbUserId],
  ['wb_run_id', 'text', ({ start }) => start?.wbRunId],
  ['wb_run_step', 'bigint', ({ start }) => start?.wbRunStep],
  ['start_size', 'int', (row) => row.startSize],
]
const endColumns: Column[] = [
  ['ended_at', 'timestamptz', ({ end }) => end?.endedAt],
  ['exception', 'text', ({ end }) => end?.exception],
  payload('output'),
  payload('summary'),
  ['output_refs', 'text[]', ({ end }) => end?.outputRefs],
  ['descendant_errors', 'boolean', ({ end }) => end?.descendantErrors ?? false],
  ['wb_run_step_end', 'bigint', ({ end }) => end?.wbRunStepEnd],
  ['end_size', 'int', (row) => row.endSize],
]
const columns: Column[] = [
  ['week', 'smallint', (row) => row.week],
  ['project', 'int', (row) => row.project],
  ['id', 'text', (row) => row.id],
  ...startColumns,
  ['display_name', 'text', ({ start }) => start?.displayName],
  ...endColumns,
  ['spilled', 'jsonb', (row) => row.spilled && JSON.stringify(row.spilled)],
]

/** Inserts calls, or merges them into what is there: a start replaces the start, an end the end. */
export async function mergeCalls(connection: Connection, rows: CallRow[]): Promise<void> {
  const values = columns.map(([, , read]) => rows.map((row) => toValue(read(row))))
  await retryDuringPartitionCreation(() => connection.query({ name: 'merge calls', text: statement, values }))
}

function toValue(value: unknown): Value {
  if (value === undefined || value === null) return null
  return Array.isArray(value) ? JSON.stringify(value) : (value as Value)
}

const parameter = (type: string, index: number) => `$${index + 1}::${type === 'text[]' ? 'json' : type}[]`

const selected = ([name, type]: Column) => {
  if (type !== 'text[]') return name
  return `CASE WHEN ${name} IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(${name})) END`
}

const replaced = ([name]: Column, by: 'started_at' | 'ended_at') =>
  `${name} = CASE WHEN excluded.${by} IS NULL THEN c.${name} ELSE excluded.${name} END`

const names = columns.map(([name]) => name).join(', ')

// A row counts what it has become, less what it was. Only the row knows that: others may have made or changed it since the
// statement began. The calls are written before they are counted: whoever holds a count waits for nobody.
const statement = `
  WITH changed AS (
    INSERT INTO tracing.calls AS c (${names}, waiting_since)
    SELECT ${columns.map(selected).join(', ')}, CASE WHEN started_at IS NULL THEN now() END
    FROM unnest(${columns.map(([, type], index) => parameter(type, index)).join(', ')}) AS given (${names})
    ON CONFLICT (week, project, id) DO UPDATE SET
      ${startColumns.map((column) => replaced(column, 'started_at')).join(',\n      ')},
      ${endColumns.map((column) => replaced(column, 'ended_at')).join(',\n      ')},
      bytes_before = ${bytesOfCall},
      display_name = CASE WHEN excluded.started_at IS NULL OR c.renamed THEN c.display_name ELSE excluded.display_name END,
      waiting_since = CASE WHEN c.started_at IS NULL THEN excluded.waiting_since END,
      spilled = nullif(coalesce(c.spilled, '{}')
        - CASE WHEN excluded.started_at IS NULL THEN '{}' ELSE '{attributes,inputs,otel_dump}' END::text[]
        - CASE WHEN excluded.ended_at IS NULL THEN '{}' ELSE '{output,summary}' END::text[]
        || coalesce(excluded.spilled, '{}'), '{}')
    RETURNING c.project, c.week, ${bytesOfCall} - coalesce(c.bytes_before, 0) AS bytes
  )
  ${countChanged}`
