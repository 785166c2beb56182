import { splitPath, unknownField, type RowsField } from './field.ts'
import type { SqlParams } from './params.ts'

// The type may contain dots and brackets. It ends at the last bracket that is followed by a dot.
const pattern = /^feedback\.\[(.+)\]\.(.+)$/s

/**
 * Parses a field of a call's feedback: `feedback.[TYPE].payload.PATH`, `.runnable_ref` or `.trigger_ref`. TYPE `*`
 * matches all types.
 */
export function readFeedbackField(path: string, alias: string, params: SqlParams): RowsField {
  const [, type = '', member = ''] = pattern.exec(path) ?? []
  const [column = '', ...segments] = splitPath(member)
  const isRef = (column === 'runnable_ref' || column === 'trigger_ref') && segments.length === 0
  if (column !== 'payload' && !isRef) throw unknownField(path)
  const ofType = type === '*' ? '' : ` AND ${alias}.feedback_type = ${params.add(type)}::text`
  return {
    kind: 'rows',
    alias,
    rows: `tracing.feedback ${alias} WHERE ${alias}.project = c.project AND ${alias}.call_id = c.id${ofType}`,
    orderBy: `${alias}.created_at, ${alias}.id`,
    value: isRef
      ? { kind: 'text', sql: `${alias}.${column}` }
      : { kind: 'json', sql: `${alias}.payload`, path: segments },
  }
}
