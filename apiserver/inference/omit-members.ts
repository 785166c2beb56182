import { isPassed, type Fields } from './chat/chat-fields.ts'

/**
 * Leaves out the members that are not passed to engines. An undeclared name might get a meaning in a later version of
 * vLLM.
 */
export function omitUnpassed(request: object, fields: Fields): Record<string, undefined> {
  const left: Record<string, undefined> = {}
  for (const name of Object.keys(request)) {
    // A name such as __proto__ is treated like any other member.
    if (!isPassed(fields, name)) Object.defineProperty(left, name, { value: undefined, enumerable: true })
  }
  return left
}
