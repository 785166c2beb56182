import { isPassed, type Fields } from './chat/chat-fields.ts'

/** The members that no engine gets: what a later vLLM makes of a name is not known before it is in the list. */
export function leaveOut(request: object, fields: Fields): Record<string, undefined> {
  const left: Record<string, undefined> = {}
  for (const name of Object.keys(request)) {
    // A name such as __proto__ is a member like any other.
    if (!isPassed(fields, name)) Object.defineProperty(left, name, { value: undefined, enumerable: true })
  }
  return left
}
