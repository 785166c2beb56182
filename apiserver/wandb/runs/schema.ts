import { Type, type Static } from 'typebox'
import { orderedPageQuery } from '../../../lib/http/page.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { runStates } from '../../../db/runs/table.ts'

const time = Type.String({ format: 'date-time' })
const text = nullable(Type.String())

/** A run in a list. */
export const runSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  entity: Type.String(),
  project: Type.String(),
  name: Type.String({ description: 'the id that the wandb SDK gives the run, unique in its project' }),
  display_name: Type.String(),
  notes: text,
  group: text,
  job_type: text,
  tags: Type.Array(Type.String()),
  state: Type.Enum(runStates, {
    description: '`crashed`: nothing has arrived for five minutes',
  }),
  exit_code: nullable(Type.Integer()),
  created_at: time,
  heartbeat_at: time,
  finished_at: nullable(time),
  history_lines: Type.Integer(),
  last_step: Type.Integer({ description: '-1 before the first line of the history' }),
  model_id: nullable(Type.String({ format: 'uuid', description: 'the model with the name of the run in its project' })),
})

export const runDetailSchema = Type.Object({
  ...runSchema.properties,
  config: Type.Record(Type.String(), Type.Unknown()),
  summary: Type.Record(Type.String(), Type.Unknown()),
})

export const runListQuery = Type.Object({
  ...orderedPageQuery.properties,
  project: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'what its address ends with: the id that the SDK knows' }),
  ),
  state: Type.Optional(Type.Enum(runStates)),
})

export const historyQuery = Type.Object({
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'metrics, separated by commas. Only lines that have all of them are returned',
    }),
  ),
  samples: Type.Integer({ minimum: 1, maximum: 10_000, default: 500 }),
  min_step: Type.Optional(Type.Integer()),
  max_step: Type.Optional(Type.Integer({ description: 'exclusive' })),
})
export type HistoryQuery = Static<typeof historyQuery>

export const historySchema = Type.Object({
  keys: Type.Array(Type.String()),
  rows: Type.Array(Type.Record(Type.String(), Type.Unknown())),
})

export const metricListSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      type: Type.String({ description: 'number, string, list, map, nil, or the type of media' }),
      lines: Type.Integer({ description: 'how many lines of the history have it' }),
    }),
  ),
})

export const outputQuery = Type.Object({
  after: Type.Integer({ minimum: -1, default: -1, description: 'the number of the last line before the page' }),
  limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 }),
})

export const outputSchema = Type.Object({
  lines: Type.Array(
    Type.Object({
      number: Type.Integer(),
      timestamp: text,
      level: Type.String(),
      content: Type.String(),
    }),
  ),
  has_more: Type.Boolean(),
})

export const fileListQuery = Type.Object({
  after: Type.Optional(Type.String({ description: 'the path of the last file before the page' })),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
})

export const fileListSchema = Type.Object({
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      size: Type.Integer(),
      sha256: Type.String(),
      md5: Type.String(),
      updated_at: time,
    }),
  ),
  has_more: Type.Boolean(),
})
