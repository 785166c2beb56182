import type { RequestMemory } from '../accounts/limits/request-memory.ts'
import type { Pool } from '../../db/pool.ts'
import { openBody } from '../../lib/http/body.ts'
import type { RequestContext } from '../accounts/context.ts'
import { chatLimitBytes, ChatReader } from './chat-reader.ts'
import { checkChat, prepareChat, type PreparedChat } from './prepare-chat.ts'
import { resolveModel } from './resolve-model.ts'

/** What chats are read with. */
export interface ChatReadDeps {
  engineKey: string
  memory: RequestMemory
  pool: Pool
}

/**
 * Reads a chat request. Nothing of what was read is kept but the body for the engine, which alone still counts among what is
 * in memory.
 *
 * @throws {HttpError} as reading, checking, and finding the model do
 */
export async function readChat(deps: ChatReadDeps, ctx: RequestContext): Promise<PreparedChat> {
  const memory = deps.memory.open(ctx)
  const bytes = await memory.read(openBody(ctx, chatLimitBytes))
  const reader = new ChatReader(memory)
  const document = reader.parse(bytes)
  const chat = checkChat(document)
  const { entity } = ctx.state.caller
  const target = await resolveModel(deps.pool, entity, chat.model ?? undefined)
  const prepared = prepareChat(deps.engineKey, { entity, document, chat, target }, memory)
  memory.drop(bytes.length)
  reader.letGo()
  return prepared
}
