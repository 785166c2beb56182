import { JsonMembers } from '../../../lib/json/members.ts'

// Less than a kilobyte each.
const maxWritten = 2_000
const written = new Map<string, Buffer>()

/** Names in a reply: what the engine wrote, and what the client is to read. */
export interface ModelNames {
  engineName: string
  requestedName: string
}

/** A JSON object of the engine with the client's name of the model in its `model`; all other bytes stay. */
export function renameModel(bytes: Uint8Array, names: ModelNames, members = readMembers(bytes)): Uint8Array {
  if (members?.has('model')) return members.change({ model: names.requestedName })
  return members?.has('error') ? renameInText(bytes, names) : bytes
}

/** A sentence of the engine with the client's name of the model in it. */
export function renameInText(bytes: Uint8Array, { engineName, requestedName }: ModelNames): Uint8Array {
  const quoted = JSON.stringify(requestedName).slice(1, -1)
  return Buffer.from(Buffer.from(bytes).toString().replaceAll(engineName, quoted))
}

/** The members of a reply or an event; undefined for what is no JSON object, such as `[DONE]`. */
export function readMembers(bytes: Uint8Array): JsonMembers | undefined {
  try {
    return new JsonMembers(bytes)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * A name as engines write it into replies and events: without spaces. A quote within a text is always escaped, so that a
 * search for it meets no text.
 */
export function writeModelMember(name: string): Buffer {
  const known = written.get(name)
  if (known) return known
  const member = Buffer.from(`"model":${JSON.stringify(name)}`)
  if (written.size >= maxWritten) written.clear()
  written.set(name, member)
  return member
}
