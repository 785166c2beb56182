import { Type, type TSchema } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'

// The fields of a sampled token that training reads. The others are kept as they came.
const tokenLogprob = Type.Object({ token: Type.String(), logprob: Type.Number() })

const choice = Type.Object({
  message: Type.Object({}),
  logprobs: Type.Optional(nullable(Type.Object({ content: Type.Optional(nullable(Type.Array(tokenLogprob))) }))),
  token_ids: Type.Optional(nullable(Type.Array(Type.Integer({ minimum: 0 })))),
})

/**
 * A message or a Choice. As in the clients, an object with both `finish_reason` and `message` is a Choice, which was
 * sampled and is trained on. Everything else is a message with any keys.
 */
const messageOrChoice = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  if: { type: 'object', required: ['finish_reason', 'message'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: choice,
})

const messages = Type.Array(messageOrChoice)
const tools = Type.Optional(nullable(Type.Array(Type.Object({}))))
const optionalObject = Type.Optional(nullable(Type.Object({})))
const optionalList = Type.Optional(nullable(Type.Array(Type.Unknown())))
const optionalVersion = Type.Optional(nullable(Type.Integer()))

const exchange = Type.Object({
  start_time: Type.Optional(nullable(Type.String())),
  end_time: Type.Optional(nullable(Type.String())),
  request: Type.Object({}),
  response: Type.Object({}),
  model: Type.Optional(nullable(Type.String())),
})
const exchangeList = Type.Optional(nullable(Type.Array(exchange)))

/** Exchanges with a model that a client captured, by their protocol. */
const exchanges = Type.Object({
  chat_completions: exchangeList,
  completions: exchangeList,
  responses: exchangeList,
  messages: exchangeList,
})

/**
 * A trajectory: its messages and sampled choices, and its reward. Clients leave out members at their default: no
 * messages, and a reward of 0. Unknown keys are kept.
 */
export const trajectorySchema = Type.Object({
  messages_and_choices: Type.Optional(nullable(messages)),
  reward: Type.Optional(nullable(Type.Number())),
  exchanges: Type.Optional(nullable(exchanges)),
  tools,
  additional_histories: Type.Optional(
    nullable(Type.Array(Type.Object({ messages_and_choices: Type.Optional(nullable(messages)), tools }))),
  ),
  initial_policy_version: optionalVersion,
  final_policy_version: optionalVersion,
  metrics: optionalObject,
  auto_metrics: optionalObject,
  metadata: optionalObject,
  logs: optionalList,
  start_time: Type.Optional(nullable(Type.String({ format: 'date-time' }))),
})

/** A group of trajectories for the same task. Their rewards are compared with each other. */
function groupOf(trajectory: TSchema) {
  return Type.Object({
    trajectories: Type.Optional(nullable(Type.Array(trajectory))),
    exceptions: optionalList,
    metadata: optionalObject,
    metrics: optionalObject,
    logs: optionalList,
  })
}

export const groupSchema = groupOf(trajectorySchema)

/** The same without checking the trajectories: they are checked one by one. */
export const groupOutlineSchema = groupOf(Type.Unknown())
