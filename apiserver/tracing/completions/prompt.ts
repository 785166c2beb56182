import { badRequest } from '../errors.ts'
import type { Caller } from '../../accounts/context.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { ChatReader } from '../../inference/chat/chat-reader.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { readObject, type ObjectLocator } from '../objects/read-object.ts'
import type { Project, ProjectDeps } from '../projects.ts'
import { looksLikeRef, parseRef } from '../refs/parse-ref.ts'
import { countRead } from '../read-memory.ts'

const promptClasses = new Set<unknown>(['Prompt', 'MessagesPrompt'])

/**
 * Reads the messages of a prompt. The prompt is named by a reference, or within the project as `NAME` or
 * `NAME:VERSION`.
 *
 * @throws {HttpError} when there is none
 * @throws {HttpError} when it is larger than a chat may be
 */
export async function readPrompt(
  deps: ProjectDeps,
  { caller, project, memory }: { caller: Caller; project: Project; memory: RequestReservation },
  { prompt, reader }: { prompt: string; reader: ChatReader },
): Promise<unknown[]> {
  const { projectId, ...locator } = looksLikeRef(prompt) ? readRef(prompt) : readName(prompt, project.id)
  const reading = countRead(memory)
  const found = await deps.projects.find(caller, projectId)
  const { val, baseObjectClass } = await readObject({ pool: deps.pool, reading }, found, locator)
  if (!promptClasses.has(baseObjectClass)) throw badRequest(`${prompt} is not a prompt`)
  const { value } = reader.parse(Buffer.from(val))
  reading.next(0)
  const messages = (isObject(value) ? value['messages'] : undefined) ?? []
  if (!Array.isArray(messages)) throw badRequest(`the messages of ${prompt} are not a list`)
  return messages
}

function readRef(uri: string): ObjectLocator & { projectId: string } {
  const ref = parseRef(uri)
  if (ref.kind !== 'object') throw badRequest(`${uri} is not a reference to an object`)
  return { projectId: ref.projectId, objectId: ref.name, digest: ref.digest }
}

function readName(text: string, projectId: string): ObjectLocator & { projectId: string } {
  const [objectId = '', digest = 'latest', ...rest] = text.split(':')
  if (rest.length > 0) throw badRequest(`${text} does not have the form NAME:VERSION`)
  return { projectId, objectId, digest }
}
