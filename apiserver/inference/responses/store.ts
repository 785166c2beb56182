import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { httpErrors } from '../../../lib/http/errors.ts'
import {
  listConversation,
  measureResponses,
  readResponses,
  type ConversationStep,
} from '../../../db/responses/conversations.ts'
import { insertResponse, type ResponseRow } from '../../../db/responses/responses.ts'
import { removeOldestResponses } from '../../../db/responses/retention.ts'
import type { Pool } from '../../../db/pool.ts'
import { chatLimitBytes } from '../chat/chat-reader.ts'

/** How many of an entity's newest responses are kept, and their total size. */
export const entityLimits = { maxCount: 10_000, maxBytes: 256 * 1024 * 1024 }
/** How many responses a conversation may have. Their chat must fit into the limit of chats in any case. */
export const conversationLimits = { maxResponses: 1_000, maxBytes: chatLimitBytes }
/** The largest response that is stored. */
export const maxStoredBytes = chatLimitBytes

// By how much an entity may exceed its limits before its oldest responses are removed, in each process.
const prunedAfter = { count: 100, bytes: 16 * 1024 * 1024 }
const maxRemembered = 10_000

/** The responses of a conversation, newest first. */
export interface Conversation {
  rootId: string
  ids: string[]
  bytes: number
}

/** Stores responses so that clients can continue them. Bounded for each entity. */
export class ResponseStore {
  readonly #pool: Pool
  /** The responses that this process has stored for each entity since it last removed old ones. */
  #added = new Map<string, { count: number; bytes: number }>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Stores a response, and removes the entity's oldest ones if it has too many. */
  async save(row: ResponseRow): Promise<void> {
    await insertResponse(this.#pool, row)
    const added = this.#added.get(row.entity)
    if (added && added.count < prunedAfter.count && added.bytes + row.bytes < prunedAfter.bytes) {
      added.count++
      added.bytes += row.bytes
      return
    }
    await removeOldestResponses(this.#pool, row.entity, entityLimits)
    if (this.#added.size >= maxRemembered) this.#added.clear()
    this.#added.set(row.entity, { count: 0, bytes: 0 })
  }

  /** @throws {HttpError} 404 if a response is not stored, 422 for a conversation that is too long */
  async findConversation(entity: string, id: string): Promise<Conversation> {
    const steps = id.includes('\0') ? [] : await listConversation(this.#pool, { entity, id }, conversationLimits)
    const [newest, oldest] = [steps[0], steps.at(-1)]
    if (!newest || !oldest) throw notFound('Response', id)
    rejectLong(steps, oldest)
    if (oldest.previousId !== null) throw brokenConversation(oldest.previousId)
    return { rootId: newest.rootId, ids: steps.map((step) => step.id), bytes: oldest.totalBytes }
  }

  /** The texts of a conversation, oldest first. @throws {HttpError} 404 if one of them was removed in the meantime */
  async readConversation(entity: string, { ids }: Conversation): Promise<{ input: string; response: string }[]> {
    const rows = await readResponses(this.#pool, entity, ids.toReversed())
    if (rows.length < ids.length) throw brokenConversation(ids.at(-1) ?? '')
    return rows
  }

  /** Returns the total size of these responses. @throws {HttpError} 422 if they are too many or too large */
  async measure(entity: string, ids: readonly string[]): Promise<number> {
    const { maxResponses, maxBytes } = conversationLimits
    const bytes = ids.length <= maxResponses ? await measureResponses(this.#pool, entity, ids) : Infinity
    if (bytes <= maxBytes) return bytes
    const limits = `at most ${maxResponses} responses, of ${maxBytes} bytes together`
    throw unprocessable(valueError(['body', 'input'], `it refers to items of ${limits}: send the items themselves`))
  }

  /** The texts of responses, without those that no longer exist. */
  async read(entity: string, ids: readonly string[]): Promise<{ response: string }[]> {
    return readResponses(this.#pool, entity, ids)
  }
}

function rejectLong(steps: ConversationStep[], { totalBytes }: ConversationStep): void {
  const { maxResponses, maxBytes } = conversationLimits
  if (steps.length <= maxResponses && totalBytes <= maxBytes) return
  const limits = `at most ${maxResponses} responses, of ${maxBytes} bytes together`
  throw unprocessable(
    valueError(['body', 'previous_response_id'], `a response goes on from ${limits}: send the newest items as input`),
  )
}

function brokenConversation(id: string): HttpError {
  const detail = `Response ${id}, from which this conversation goes on, is not stored any more. Send its items as input.`
  return new HttpError(httpErrors.not_found, detail)
}
