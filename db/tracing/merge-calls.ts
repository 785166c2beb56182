import type { Connection } from '../pool.ts'
import { writtenColumns, type CallRow, type CallValue, type WrittenColumn } from './call-rows.ts'
import { retryDuringPartitionCreation } from './create-partitions.ts'
import { bytesOfCall, countChanged } from './stored-bytes.ts'

/** Inserts calls, or merges them into existing rows: a start replaces the start, an end replaces the end. */
export async function mergeCalls(connection: Connection, rows: CallRow[]): Promise<void> {
  const values = writtenColumns.map(({ read }) => rows.map((row) => toParameter(read(row))))
  await retryDuringPartitionCreation(() => connection.query({ name: 'merge calls', text: statement, values }))
}

/** Arrays are passed as JSON, because the driver would write an array of arrays as a multidimensional array. */
function toParameter(value: CallValue): string | number | boolean | null {
  if (value === undefined || value === null) return null
  if (Buffer.isBuffer(value)) return value.toString()
  return typeof value === 'object' ? JSON.stringify(value) : value
}

const parameter = ({ type }: WrittenColumn, index: number) => `$${index + 1}::${type === 'text[]' ? 'json' : type}[]`

const selected = ({ name, type }: WrittenColumn) => {
  if (type !== 'text[]') return name
  return `CASE WHEN ${name} IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(${name})) END`
}

const replaced = ({ name, part }: WrittenColumn) =>
  `${name} = CASE WHEN excluded.${part === 'start' ? 'started_at' : 'ended_at'} IS NULL THEN c.${name} ELSE excluded.${name} END`

// A start does not replace a name that was set later.
const replacedColumns = writtenColumns.filter(({ name, part }) => part !== undefined && name !== 'display_name')

const names = writtenColumns.map(({ name }) => name).join(', ')

// Each row counts its new size minus its old size. Only the row knows its old size: others may have changed it since
// the statement began. Calls are written before they are counted, so that the holder of a count waits for nobody.
const statement = `
  WITH changed AS (
    INSERT INTO tracing.calls AS c (${names}, waiting_since)
    SELECT ${writtenColumns.map(selected).join(', ')}, CASE WHEN started_at IS NULL THEN now() END
    FROM unnest(${writtenColumns.map(parameter).join(', ')}) AS given (${names})
    ON CONFLICT (week, project, id) DO UPDATE SET
      ${replacedColumns.map(replaced).join(',\n      ')},
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
