import { projectIdOf } from '../../../db/tracing/select-rows.ts'
import { splitPath, unknownField, type Field, type Fields, type PlainField } from '../query/field.ts'

const text = (name: string): PlainField => ({ kind: 'text', sql: `f.${name}` })
const filled = (name: string): PlainField => ({ kind: 'text', sql: `f.${name}`, neverNull: true })

const columns = new Map<string, PlainField>([
  ['id', filled('id')],
  ['project_id', { kind: 'text', sql: projectIdOf('f'), neverNull: true }],
  ['weave_ref', filled('weave_ref')],
  ['wb_user_id', filled('wb_user_id')],
  ['creator', text('creator')],
  ['created_at', { kind: 'time', sql: 'f.created_at', neverNull: true }],
  ['feedback_type', filled('feedback_type')],
  ['annotation_ref', text('annotation_ref')],
  ['runnable_ref', text('runnable_ref')],
  ['call_ref', text('call_ref')],
  ['trigger_ref', text('trigger_ref')],
])

/** The members of a row unless the request names fewer. */
export const allFields = ['payload', ...columns.keys()]

/** The fields of a project's feedback, `tracing.feedback f`. */
export const feedbackFields: Fields = {
  resolve(path: string): Field {
    const column = columns.get(path)
    if (column) return column
    if (path === 'payload') return { kind: 'json', sql: 'f.payload', path: [] }
    if (!path.startsWith('payload.')) throw unknownField(path)
    return { kind: 'json', sql: 'f.payload', path: splitPath(path).slice(1) }
  },
}
