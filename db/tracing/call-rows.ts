import type { SqlType } from '../columns.ts'
import {
  endColumns,
  endPayloads,
  startColumns,
  startPayloads,
  type PartRow,
  type Payload,
  type StoredPart,
  type columnsOfEveryCall,
} from './call-columns.ts'

/** The key of a payload that is too large for its row, and its size in bytes. */
export interface SpilledPart {
  key: string
  size: number
}

/** A call, or the part of it that has arrived. */
export interface CallRow {
  week: number
  project: number
  id: string
  start: PartRow<typeof startColumns> | undefined
  end: PartRow<typeof endColumns> | undefined
  payloads: Partial<Record<Payload, Buffer | undefined>>
  /** The size of the payloads in bytes. */
  startSize: number
  endSize: number
  spilled: Partial<Record<Payload, SpilledPart>> | undefined
}

type StoredColumns = StoredPart<typeof startColumns> &
  StoredPart<typeof endColumns> & { [Name in Payload]?: string | null }

/** A call as it is read. Payloads are JSON texts. Columns that were not requested are undefined. */
export interface StoredCall extends Omit<StoredColumns, (typeof columnsOfEveryCall)[number]> {
  id: string
  trace_id: string
  op_name: string
  started_at: string
  spilled?: Record<string, SpilledPart> | null
  storage_size_bytes?: number
  total_storage_size_bytes?: number | null
  /** Set if a call's texts are read separately: its project, its week, and the bytes of the texts. */
  held?: [project: number, week: number, bytes: number] | null
}

/** A column's value before it is written. Payloads are bytes. */
export type CallValue = string | number | boolean | string[] | Buffer | CallRow['spilled'] | null

/** A written column, and how its value is read from a row. `part` is the part of the call that sets and replaces it. */
export interface WrittenColumn {
  name: string
  type: SqlType
  part: 'start' | 'end' | undefined
  read: (row: CallRow) => CallValue
}

/** All columns of calls that COPY or a merge writes. */
export const writtenColumns: readonly WrittenColumn[] = [
  { name: 'week', type: 'smallint', part: undefined, read: ({ week }) => week },
  { name: 'project', type: 'integer', part: undefined, read: ({ project }) => project },
  { name: 'id', type: 'text', part: undefined, read: ({ id }) => id },
  ...Object.entries(startColumns).map(([field, column]) => writePart('start', field, column)),
  ...startPayloads.map((name) => writePayload('start', name)),
  { name: 'start_size', type: 'integer', part: 'start', read: ({ startSize }) => startSize },
  ...Object.entries(endColumns).map(([field, column]) => writePart('end', field, column)),
  ...endPayloads.map((name) => writePayload('end', name)),
  { name: 'end_size', type: 'integer', part: 'end', read: ({ endSize }) => endSize },
  { name: 'spilled', type: 'jsonb', part: undefined, read: ({ spilled }) => spilled },
]

function writePart(
  part: 'start' | 'end',
  field: string,
  { name, type }: Pick<WrittenColumn, 'name' | 'type'>,
): WrittenColumn {
  // Boolean columns are never null.
  const missing = type === 'boolean' ? false : undefined
  const read = (row: CallRow): CallValue => {
    const values: Readonly<Record<string, CallValue>> | undefined = row[part]
    return values?.[field] ?? missing
  }
  return { name, type, part, read }
}

function writePayload(part: 'start' | 'end', name: Payload): WrittenColumn {
  return { name, type: 'json', part, read: ({ payloads }) => payloads[name] }
}
