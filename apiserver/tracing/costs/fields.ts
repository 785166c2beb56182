import { projectIdOf } from '../../../db/tracing/select-rows.ts'
import { unknownField, type Field, type Fields, type PlainField } from '../query/field.ts'

const column = (kind: PlainField['kind'], name: string): PlainField => ({ kind, sql: `f.${name}`, neverNull: true })

/** The members of a cost in an answer. */
const presented = new Map<string, PlainField>([
  ['id', column('text', 'id')],
  ['llm_id', column('text', 'llm_id')],
  ['prompt_token_cost', column('number', 'prompt_token_cost')],
  ['completion_token_cost', column('number', 'completion_token_cost')],
  ['prompt_token_cost_unit', { kind: 'text', sql: 'f.prompt_token_cost_unit' }],
  ['completion_token_cost_unit', { kind: 'text', sql: 'f.completion_token_cost_unit' }],
  ['effective_date', column('time', 'effective_date')],
  ['provider_id', column('text', 'provider_id')],
  ['cache_read_input_token_cost', column('number', 'cache_read_input_token_cost')],
  ['cache_creation_input_token_cost', column('number', 'cache_creation_input_token_cost')],
])

const queryable = new Map<string, PlainField>([
  ...presented,
  ['created_by', column('text', 'created_by')],
  ['created_at', column('time', 'created_at')],
  ['pricing_level', { kind: 'text', sql: "'project'::text", neverNull: true }],
  ['pricing_level_id', { kind: 'text', sql: projectIdOf('f'), neverNull: true }],
])

export const presentedFields = [...presented.keys()]

/** The fields of a project's costs, `tracing.costs f`. */
export const costFields: Fields = {
  resolve(path: string): Field {
    const field = queryable.get(path)
    if (field) return field
    throw unknownField(path)
  },
}
