import { JsonMembers } from '../../../lib/json/members.ts'

// Each needs less than a kilobyte.
const maxWritten = 2_000
const written = new Map<string, Buffer>()

/** The names of a model in a reply: the engine's own, and the one for the client. */
export interface ModelNames {
  engineName: string
  requestedName: string
}

/**
 * Writes the client's name of the model into the `model` of an engine's JSON object. All other bytes stay unchanged.
 */
export function renameModel(bytes: Uint8Array, names: ModelNames, members = readMembers(bytes)): Uint8Array {
  if (members?.has('model')) return members.change({ model: names.requestedName })
  return members?.has('error') ? renameInText(bytes, names) : bytes
}

/** Replaces the engine's name of the model in an engine's text by the client's. */
export function renameInText(bytes: Uint8Array, { engineName, requestedName }: ModelNames): Uint8Array {
  const quoted = JSON.stringify(requestedName).slice(1, -1)
  return Buffer.from(Buffer.from(bytes).toString().replaceAll(engineName, quoted))
}

/** The members of a reply or an event. Undefined for data that is not a JSON object, such as `[DONE]`. */
export function readMembers(bytes: Uint8Array): JsonMembers | undefined {
  try {
    return new JsonMembers(bytes)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * A name as engines write it in replies and events, without spaces. A quote within a text is always escaped, so that a
 * search for it never matches within a text.
 */
export function writeModelMember(name: string): Buffer {
  const known = written.get(name)
  if (known) return known
  const member = Buffer.from(`"model":${JSON.stringify(name)}`)
  if (written.size >= maxWritten) written.clear()
  written.set(name, member)
  return member
}
