import { HttpError } from '../../lib/http/http-error.ts'
import type { JsonDocument } from '../../lib/json/document.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import { receiveBody } from '../../lib/http/receive-body.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { chatLimitBytes, ChatReader } from './chat/chat-reader.ts'
import type { ModelResolver } from './models/model-resolver.ts'
import type { CheckedBody, Passthrough } from './passthrough.ts'
import { prepareRequest, type PreparedRequest } from './prepare-request.ts'

// For the engine's name of the model, the cache salt, and the members that training needs.
const slackBytes = 512

/** What reading a request needs. */
export interface ReadDeps {
  engineKey: string
  models: ModelResolver
}

/** The entity of a request, and the memory that it reserves. */
export interface Reading {
  entity: string
  memory: RequestReservation
  /** Receives the body before it is changed. */
  keep?: ((body: Buffer) => void) | undefined
}

/**
 * Reads a request. Afterwards only the body for the engine is in memory, and only this body stays reserved.
 *
 * @throws {HttpError} as receiving the body, checking it, and finding the model do
 */
export async function readRequest(
  deps: ReadDeps,
  { exchange, operation }: { exchange: Exchange; operation: Passthrough },
  { entity, memory, keep }: Reading,
): Promise<PreparedRequest> {
  const { room, bytes } = await receiveBody(exchange, { limitBytes: chatLimitBytes, slackBytes, memory })
  keep?.(bytes)
  const reader = new ChatReader(memory)
  const { document, checked } = readDocument(reader, bytes, operation)
  const target = deps.models.peek(entity, checked.model) ?? (await deps.models.resolve(entity, checked.model))
  const request = { path: operation.enginePath ?? operation.path, entity, document, checked, target, room }
  const prepared = prepareRequest(deps.engineKey, request, memory)
  reader.letGo()
  return prepared
}

interface ReadDocument {
  document: JsonDocument
  checked: CheckedBody
}

/** @throws {HttpError} as `parse` and `check` do */
function readDocument(reader: ChatReader, bytes: Buffer, operation: Passthrough): ReadDocument {
  const { usedMembers } = operation
  const viewed = usedMembers && checkView(reader, bytes, { ...operation, usedMembers })
  if (viewed) return viewed
  const document = reader.parse(bytes)
  return { document, checked: operation.check(document) }
}

/** Checks the document without decoding all of its texts. Returns undefined if the document has to be parsed whole. */
function checkView(
  reader: ChatReader,
  bytes: Buffer,
  { check, usedMembers, usesTexts }: Passthrough & Pick<Required<Passthrough>, 'usedMembers'>,
): ReadDocument | undefined {
  const document = reader.view(bytes, usedMembers)
  if (!document) return undefined
  if (usesTexts?.(document.value)) {
    reader.letGo()
    return undefined
  }
  try {
    return { document, checked: check(document) }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    reader.letGo()
    return undefined
  }
}
