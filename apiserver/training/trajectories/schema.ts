import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { trajectoryFlags } from '../../../db/trajectories/flags.ts'
import { trajectorySorts } from '../../../db/trajectories/trajectories.ts'
import { splitSchema } from '../ingest/shapes.ts'
import { orderedPageQuery, totalQuery } from '../../../lib/http/page.ts'

const id = Type.String({ format: 'uuid' })
const count = Type.Integer({ minimum: 0 })
const hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const flag = Type.Enum([...trajectoryFlags])

/** A row must match all filters. */
const filterProperties = {
  split: Type.Optional(splitSchema),
  step: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  job_id: Type.Optional(id),
  scenario_id: Type.Optional(Type.String()),
  prompt_hash: Type.Optional(hash),
  min_reward: Type.Optional(Type.Number()),
  max_reward: Type.Optional(Type.Number()),
  flag: Type.Optional(flag),
  min_push: Type.Optional(Type.Number()),
  max_push: Type.Optional(Type.Number()),
}

const filterSchema = Type.Object(filterProperties)

export type TrajectoryFilterQuery = Static<typeof filterSchema>

/** Query of GET .../trajectories. */
export const trajectoryListQuery = Type.Object({
  ...orderedPageQuery.properties,
  ...totalQuery,
  sort: Type.Enum([...trajectorySorts], {
    default: 'arrival',
    description:
      'Advantages and pushes are compared by their size. Everything but `arrival` needs `step`, `job_id` or ' +
      '`prompt_hash`.',
  }),
  ...filterProperties,
})

export type TrajectoryListQuery = Static<typeof trajectoryListQuery>

/** A trajectory in lists. */
export const trajectoryRowSchema = Type.Object({
  id,
  model_id: id,
  job_id: nullable(id),
  log_id: nullable(id),
  split: splitSchema,
  step: nullable(
    Type.Integer({
      description:
        "The step that its job created. For a logged trajectory: the model's newest step at that time. Null " +
        'while there is none.',
    }),
  ),
  group_index: count,
  trajectory_index: count,
  group_exceptions: { ...count, description: 'Failed rollouts of its group.' },
  scenario_id: nullable(
    Type.String({ description: 'metadata.scenario_id of the trajectory or of its group; at most 256 characters.' }),
  ),
  prompt_hash: { ...hash, description: 'sha256 of the JSON list of the messages before the first answer.' },
  reward: Type.Number(),
  advantage: nullable(Type.Number({ description: 'The difference between its reward and the mean of its group.' })),
  metrics: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean()])),
  tokens: { ...count, description: 'The number of sampled tokens.' },
  flags: Type.Array(flag),
  push: nullable(
    Type.Number({
      description:
        'How strongly the trajectory changed the policy: the sum of the magnitudes of its gradient coefficients, ' +
        'positive when training made it more likely. Null for logged trajectories, and until the trainer has ' +
        'reported it shortly after the end.',
    }),
  ),
  created_at: Type.String({ format: 'date-time' }),
})

const historySchema = Type.Object({
  messages_and_choices: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  tools: Type.Optional(Type.Unknown()),
})

/** A trajectory with its stored payload. */
export const trajectorySchema = Type.Object({
  ...trajectoryRowSchema.properties,
  trajectory: Type.Object({}),
  histories: Type.Optional(
    Type.Array(historySchema, {
      description:
        'With the flag `captured`: the conversations with the model that its exchanges are, as messages and choices. ' +
        'The histories after the first 32 MiB are left out, and all of them if the trajectory has more than 32 MiB.',
    }),
  ),
})

/** Query of GET .../trajectory-matches. */
export const matchesQuery = Type.Object({
  text: Type.String({ minLength: 2, maxLength: 200, description: 'Upper and lower case are equal.' }),
  after: Type.Optional(Type.String({ description: 'the `last_id` of the page before' })),
  order: Type.Enum(['asc', 'desc'], { default: 'asc' }),
  limit: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 200,
    description: 'The most trajectories that are searched. A page ends earlier after 16 MiB of them.',
  }),
  ...filterProperties,
})

export type MatchesQuery = Static<typeof matchesQuery>

const matchSchema = Type.Object({
  turn: Type.Integer({
    minimum: 0,
    description: 'The index in the messages and choices of all its histories, one after the other.',
  }),
  role: Type.String(),
  before: Type.String(),
  text: Type.String(),
  after: Type.String(),
})

export const matchesSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      ...trajectoryRowSchema.properties,
      matches: Type.Array(matchSchema, { description: 'Its first three matches.' }),
    }),
  ),
  searched: { ...count, description: 'How many trajectories were searched for this page.' },
  skipped: {
    ...count,
    description: 'How many of them are larger than 4 MiB, or are no longer stored, and were not read.',
  },
  has_more: Type.Boolean({ description: 'Whether others follow. A page without matches may have a next one.' }),
  last_id: Type.String({ description: 'The last trajectory that was searched.' }),
})
