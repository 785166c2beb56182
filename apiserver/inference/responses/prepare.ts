import { unprocessable } from '../../../lib/http/http-error.ts'
import { openBody } from '../../../lib/http/body.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import type { RequestMemory, RequestReservation } from '../../accounts/limits/request-memory.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { chatLimitBytes, ChatReader } from '../chat/chat-reader.ts'
import { chatPassthrough } from '../chat/passthrough.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
import { prepareRequest, type PreparedRequest } from '../prepare-request.ts'
import type { ReadDeps } from '../read-request.ts'
import { buildResponseChat, listInput, type ResponseChat } from './chat-body.ts'
import { responseFields } from './fields.ts'
import { readItems, readOutput, resolveReferences } from './item-references.ts'
import { translateError } from './error-paths.ts'
import { parseResponseRequest, type InputItem, type ResponseRequest } from './schema.ts'
import type { ResponseTrace } from './response-trace.ts'
import type { Conversation, ResponseStore } from './store.ts'

/** What reading a request for a response needs. */
export interface ResponseReadDeps extends ReadDeps {
  memory: RequestMemory
  stored: ResponseStore
}

/** What is kept of a request for a response while an engine answers its chat. */
export interface PreparedResponse {
  chat: PreparedRequest
  request: ResponseRequest
  /** The items of its own input, as JSON. */
  input: string
  conversation: Conversation | undefined
  paths: string[][]
  trace: ResponseTrace | undefined
}

/**
 * Reads a request, and builds a chat from it and from the conversation that it continues. The memory of the request
 * stays reserved until the response is sent, because the response contains parts of the request.
 *
 * @throws {HttpError} as reading, checking, and finding the model and the conversation do
 */
export async function readResponseRequest(
  deps: ResponseReadDeps,
  ctx: RequestContext,
  trace?: ResponseTrace,
): Promise<PreparedResponse> {
  const memory = deps.memory.open(ctx)
  const bytes = await memory.read(openBody(ctx, chatLimitBytes))
  trace?.keepRequest(bytes)
  const checked = checkRequest(new ChatReader(memory).parse(bytes))
  const { entity } = ctx.state.caller
  const request = await resolveReferences(deps.stored, checked, { entity, memory })
  const { previous_response_id: previousId } = request
  const conversation = previousId ? await deps.stored.findConversation(entity, previousId) : undefined
  const earlier = conversation ? await readEarlier(deps.stored, { entity, conversation, memory }) : []
  const { paths, body } = buildResponseChat(request, earlier)
  const input = JSON.stringify(listInput(request))
  memory.add(input.length)
  const chat = await prepare(deps, { entity, memory, body }).catch((error: unknown) => {
    throw translateError(error, paths)
  })
  return { chat, request: { ...request, input: null }, input, conversation, paths, trace }
}

function checkRequest(document: JsonDocument): ResponseRequest {
  const request = parseResponseRequest(document)
  const issues = findUnsupported(request, responseFields, []).filter(({ loc }) => request[loc[1] ?? ''] !== false)
  if (issues.length > 0) throw unprocessable(...issues)
  return request
}

interface Earlier {
  entity: string
  conversation: Conversation
  memory: RequestReservation
}

/** Reads the items of a conversation. Memory for them is reserved first. */
async function readEarlier(stored: ResponseStore, { entity, conversation, memory }: Earlier): Promise<InputItem[]> {
  memory.add(conversation.bytes)
  const rows = await stored.readConversation(entity, conversation)
  return rows.flatMap(({ input, response }) => [...readItems(memory, input), ...readOutput(memory, response)])
}

interface Converted {
  entity: string
  memory: RequestReservation
  body: ResponseChat['body']
}

async function prepare(deps: ResponseReadDeps, { entity, memory, body }: Converted): Promise<PreparedRequest> {
  const reader = new ChatReader(memory)
  const document = reader.parse(Buffer.from(JSON.stringify(body)))
  const { enginePath: path, check } = chatPassthrough
  const checked = check(document)
  const target = await deps.models.resolve(entity, checked.model)
  const prepared = prepareRequest(deps.engineKey, { path, entity, document, checked, target }, memory)
  reader.letGo()
  return prepared
}
