import type { Value } from '../../../lib/json/value.ts'
import { inputKeys, outputKeys, systemInstructions, unwrappedKeys } from './conventions.ts'
import { findFirst } from './find-attribute.ts'
import type { NestedEvent } from './message-events.ts'
import { listChoices, listMessages, readDetails } from './message-events.ts'
import type { Members } from './nest.ts'

/**
 * Reads the inputs of a call: those of the first key with a value, with the system instructions beside messages. Without
 * such a key, the messages in the span's events. An object under some keys becomes the inputs. Any other value becomes a
 * member under its key.
 */
export function readInputs(attributes: Members, events: readonly NestedEvent[]): Members {
  const [source, found] = findIn(attributes, events, inputKeys)
  if (!found) return listMessages(events)
  const [key, value] = found
  if (unwrappedKeys.has(key) && value instanceof Map) return value
  const instructions = key.endsWith('messages') ? findFirst(source, [systemInstructions]) : undefined
  return new Map(instructions ? [instructions, found] : [found])
}

/** Reads the output as `readInputs` does, but under some keys it may have any type. */
export function readOutput(attributes: Members, events: readonly NestedEvent[]): Value {
  const [, found] = findIn(attributes, events, outputKeys)
  if (!found) return listChoices(events)
  const [key, value] = found
  return unwrappedKeys.has(key) ? unquote(value) : new Map([found])
}

/** Spans that the conventions keep small have their messages in an event. */
function findIn(attributes: Members, events: readonly NestedEvent[], keys: readonly string[]) {
  const found = findFirst(attributes, keys)
  if (found) return [attributes, found] as const
  const details = readDetails(events)
  return [details, findFirst(details, keys)] as const
}

/** The Vercel AI SDK writes the result of a tool as JSON, texts too. */
function unquote(value: Value): Value {
  if (typeof value !== 'string' || !value.startsWith('"')) return value
  try {
    return JSON.parse(value) as string
  } catch {
    return value
  }
}
