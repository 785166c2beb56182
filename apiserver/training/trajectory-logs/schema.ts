import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { splitSchema } from '../ingest/shapes.ts'
import { orderedPageQuery } from '../../../lib/http/page.ts'

const count = Type.Integer({ minimum: 0 })
const reward = nullable(Type.Number())

/** Query of both lists of logs. */
export const logListQuery = Type.Object({
  ...orderedPageQuery.properties,
  split: Type.Optional(splitSchema),
})

export type LogListQuery = Static<typeof logListQuery>

/** The answer to a log. */
export const logMadeSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  split: splitSchema,
  step: Type.Integer({
    minimum: 0,
    description: "The step of the model's newest checkpoint at that time; 0 without one.",
  }),
  num_groups: count,
  num_trajectories: count,
})

const rewards = {
  mean_reward: reward,
  min_reward: reward,
  max_reward: reward,
  std_reward: { ...reward, description: 'The population standard deviation. Null without rewards.' },
}

export const logSchema = Type.Object({
  ...logMadeSchema.properties,
  num_exceptions: count,
  ...rewards,
  created_at: Type.String({ format: 'date-time' }),
})

/** All logs of a split at a step. */
export const logStatisticsSchema = Type.Object({
  id: Type.String({ description: 'split:step' }),
  split: splitSchema,
  step: count,
  num_logs: count,
  num_groups: count,
  num_trajectories: count,
  num_exceptions: count,
  ...rewards,
})
