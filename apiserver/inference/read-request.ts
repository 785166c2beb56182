import { openBody } from '../../lib/http/body.ts'
import type { RequestContext } from '../accounts/context.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { chatLimitBytes, ChatReader } from './chat/chat-reader.ts'
import type { ModelResolver } from './models/model-resolver.ts'
import type { Passthrough } from './passthrough.ts'
import { prepareRequest, type PreparedRequest } from './prepare-request.ts'

/** What reading a request needs. */
export interface ReadDeps {
  engineKey: string
  models: ModelResolver
}

/** A request that is read, and the memory that it reserves. */
interface Reading {
  ctx: RequestContext
  passthrough: Passthrough
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
  { ctx, passthrough, memory, keep }: Reading,
): Promise<PreparedRequest> {
  const bytes = await memory.read(openBody(ctx, chatLimitBytes))
  keep?.(bytes)
  const reader = new ChatReader(memory)
  const document = reader.parse(bytes)
  const checked = passthrough.check(document)
  const { entity } = ctx.state.caller
  const target = await deps.models.resolve(entity, checked.model)
  const request = { path: passthrough.enginePath, entity, document, checked, target }
  const prepared = prepareRequest(deps.engineKey, request, memory)
  reader.letGo()
  memory.drop(bytes.length)
  return prepared
}
