import type { ChatTokens } from '../accounts/usage/ledger.ts'
import type { ChatRequest } from './chat-schema.ts'
import { readMembers } from './rename-model.ts'

const usageMember = Buffer.from('"usage"')

/**
 * Whether a stream's usage must be asked for in the client's place: unless it said how it wants it, it gets none. What is
 * neither true, false nor absent is the engine's to judge.
 */
export function asksForUsage({ stream, stream_options: options }: ChatRequest): boolean {
  const { include_usage: wanted = null } = (options ?? {}) as { include_usage?: unknown }
  return stream === true && (wanted === null || wanted === false)
}

/** Stream options with which the engine ends the stream with its usage. */
export function withUsage(options: object | null | undefined): Record<string, unknown> {
  // Without include_usage the engine ignores this one; with it each event would change.
  const { continuous_usage_stats: _, ...rest } = (options ?? {}) as Record<string, unknown>
  return { ...rest, include_usage: true }
}

/** Counts the tokens of a chat as its reply passes. */
export class ChatMeter {
  readonly #hidesUsage: boolean
  #events = 0
  #usage: ChatTokens | undefined

  /** @param hidesUsage whether the client did not ask for the event that holds the usage alone */
  constructor(hidesUsage: boolean) {
    this.#hidesUsage = hidesUsage
  }

  /**
   * What the engine said that the chat used. Of a stream that broke off before it said so: a token for each event, for
   * that is how engines send them, and none of the prompt.
   */
  get tokens(): ChatTokens {
    return this.#usage ?? { promptTokens: 0, completionTokens: this.#events }
  }

  /** Reads an event's data, and says whether the client is to get it. */
  passEvent(data: Uint8Array): boolean {
    const usage = mentionsUsage(data) ? readMembers(data) : undefined
    if (!usage?.has('usage')) {
      this.#events++
      return true
    }
    this.readReply(usage)
    return !(this.#hidesUsage && isEmptyList(usage.get('choices')))
  }

  /** Reads the members of a complete reply. */
  readReply(members: ReturnType<typeof readMembers>): void {
    const usage = parse(members?.get('usage')) as Record<string, unknown> | null | undefined
    if (!usage) return
    this.#usage = {
      promptTokens: readCount(usage['prompt_tokens']),
      completionTokens: readCount(usage['completion_tokens']),
    }
  }
}

function mentionsUsage(data: Uint8Array): boolean {
  return Buffer.from(data.buffer, data.byteOffset, data.length).includes(usageMember)
}

function isEmptyList(bytes: Uint8Array | undefined): boolean {
  const value = parse(bytes)
  return Array.isArray(value) && value.length === 0
}

function parse(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

function readCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
