import { clientColumns, clientPayloads, columnsOfEveryCall } from '../../../db/tracing/call-columns.ts'
import { renameDump } from '../query/field.ts'

const always: readonly string[] = columnsOfEveryCall
const others = [...clientColumns.map(({ name }) => name), ...clientPayloads].filter((name) => !always.includes(name))
// The computed members of a call need these columns. They are read even when the request does not name them.
const needed: Record<string, string[]> = {
  summary: ['summary', 'ended_at', 'exception', 'display_name', 'descendant_errors', 'spilled'],
  attributes: ['attributes', 'otel_dump', 'spilled'],
  inputs: ['inputs', 'spilled'],
  output: ['output', 'spilled'],
}

export interface WantedColumns {
  /** Paths whose first segment is a column. An empty list selects all columns. */
  columns?: string[] | null | undefined
  include_costs?: boolean | null | undefined
  include_feedback?: boolean | null | undefined
  include_storage_size?: boolean | null | undefined
  include_total_storage_size?: boolean | null | undefined
}

/** The columns to read. */
export function selectColumns(wanted: WantedColumns): string[] {
  const asked = wanted.columns?.length ? wanted.columns.map((path) => renameDump(path).split('.', 1)[0]!) : others
  const names = asked.filter((name) => others.includes(name))
  if (wanted.include_costs || wanted.include_feedback) names.push('summary')
  if (wanted.include_storage_size) names.push('storage_size_bytes')
  if (wanted.include_total_storage_size) names.push('total_storage_size_bytes')
  return [...new Set([...always, ...names.flatMap((name) => needed[name] ?? name)])]
}
