import { badRequest } from '../errors.ts'
import {
  clientColumns,
  clientPayloads,
  columnsOfEveryCall,
  type ClientColumn,
} from '../../../db/tracing/call-columns.ts'
import { expandPath } from './expanded.ts'
import { readFeedbackField } from './feedback-field.ts'
import { renameDump, splitPath, unknownField, type Field, type Fields, type PlainField } from './field.ts'
import type { SqlParams } from './params.ts'

const text = (sql: string): PlainField => ({ kind: 'text', sql })
const number = (sql: string): PlainField => ({ kind: 'number', sql })
const time = (sql: string): PlainField => ({ kind: 'time', sql })
const filled = (field: PlainField): PlainField => ({ ...field, neverNull: true })

const status = `CASE WHEN c.exception IS NOT NULL THEN 'error' WHEN c.descendant_errors THEN 'descendant_error'
  WHEN c.ended_at IS NULL THEN 'running' ELSE 'success' END`

const traceName = String.raw`coalesce(nullif(c.display_name, ''),
  substring(c.op_name FROM '^weave:///[^/]+/[^/]+/op/([^/:]+):'), c.op_name)`

const everyCall: ReadonlySet<string> = new Set(columnsOfEveryCall)

// A field of ours: the tokens of all models that a call has used. Null without any.
const tokensOf = (name: string) => `tracing.number_or_null(used.value ->> '${name}')`
const totalTokens = `(SELECT sum(coalesce(${tokensOf('total_tokens')},
    coalesce(${tokensOf('prompt_tokens')}, ${tokensOf('input_tokens')}, 0)
    + coalesce(${tokensOf('completion_tokens')}, ${tokensOf('output_tokens')}, 0)))
  FROM json_each(CASE WHEN json_typeof(c.summary -> 'usage') = 'object' THEN c.summary -> 'usage' END) AS used)`

function describeColumn({ name, type }: ClientColumn): [string, PlainField] {
  const kind = type === 'timestamptz' ? 'time' : type === 'bigint' ? 'number' : 'text'
  const field: PlainField = { kind, sql: `c.${name}` }
  return [name, everyCall.has(name) ? filled(field) : field]
}

/** The columns of table `tracing.calls c`. */
const columns = new Map<string, PlainField>([
  ...clientColumns.map(describeColumn),
  ['deleted_at', time('c.deleted_at')],
  // The same as the status in an answer, with one exception: a running call with a failed descendant has the status
  // descendant_error here.
  ['summary.weave.status', filled(text(`(${status}) COLLATE "C"`))],
  ['summary.weave.latency_ms', number('floor(extract(epoch FROM c.ended_at - c.started_at) * 1000)::float8')],
  ['summary.weave.trace_name', filled(text(`(${traceName}) COLLATE "C"`))],
  ['summary.weave.display_name', text('c.display_name')],
  ['summary.weave.total_tokens', number(totalTokens)],
])

// Each of these reads the feedback table for every call.
const maxFeedbackFields = 20

const documents: ReadonlySet<string> = new Set(clientPayloads)

/** The fields of calls for queries and sorting. */
export class CallFields implements Fields {
  readonly #projectId: string
  readonly #expandColumns: string[][]
  readonly #params: SqlParams
  #feedbackFields = 0

  /** Refs to objects at `expandColumns` are replaced by their values. */
  constructor(projectId: string, expandColumns: readonly string[], params: SqlParams) {
    this.#projectId = projectId
    this.#expandColumns = expandColumns.map(splitPath)
    this.#params = params
  }

  resolve(name: string): Field {
    const path = renameDump(name)
    const column = columns.get(path)
    if (column) return column
    if (path === 'project_id') return text(`${this.#params.add(this.#projectId)}::text`)
    if (path.startsWith('feedback.')) return this.#resolveFeedback(path)
    const [root = '', ...segments] = splitPath(path)
    const isStored = documents.has(root) && !path.startsWith('summary.weave.')
    if (!isStored) throw unknownField(path)
    const expansion = { projectId: this.#projectId, columns: this.#expandColumns, params: this.#params }
    return expandPath([root, ...segments], expansion)
  }

  #resolveFeedback(path: string): Field {
    if (++this.#feedbackFields > maxFeedbackFields)
      throw badRequest(
        `A query uses at most ${maxFeedbackFields} feedback fields in its condition, and ${maxFeedbackFields} in its sort order.`,
      )
    return readFeedbackField(path, `f${this.#feedbackFields}`, this.#params)
  }
}
