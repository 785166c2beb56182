import { isPassed, type Fields } from './chat/chat-fields.ts'

/** The members that no engine gets: what a later vLLM makes of a name is not known before it is in the list. */
export function leaveOut(request: object, fields: Fields): Record<string, undefined> {
  const names = Object.keys(request).filter((name) => !isPassed(fields, name))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
