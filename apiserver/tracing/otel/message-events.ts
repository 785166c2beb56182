import type { Value } from '../../../lib/json/value.ts'
import type { Members } from './nest.ts'

/** An event of a span, with nested attributes. */
export interface NestedEvent {
  name: string
  attributes: Members
}

const message = /^gen_ai\.(system|user|assistant|tool)\.message$/
const choice = 'gen_ai.choice'
const details = 'gen_ai.client.inference.operation.details'

/** The messages that instrumentations write as one event each, as inputs. The role is in the event's name. */
export function listMessages(events: readonly NestedEvent[]): Members {
  const messages = events.flatMap(({ name, attributes }): Value[] => {
    const role = message.exec(name)?.[1]
    return role === undefined ? [] : [new Map<string, Value>([['role', role], ...attributes])]
  })
  return messages.length > 0 ? new Map([['messages', messages]]) : new Map()
}

/** The answers that instrumentations write as one event each, as an output. */
export function listChoices(events: readonly NestedEvent[]): Members {
  const choices = events.filter(({ name }) => name === choice).map(({ attributes }) => attributes)
  return choices.length > 0 ? new Map([['choices', choices]]) : new Map()
}

/** The attributes that instrumentations write into an event instead of the span. */
export function readDetails(events: readonly NestedEvent[]): Members {
  return events.find(({ name }) => name === details)?.attributes ?? new Map()
}
