import type { ChatTokens } from '../../accounts/usage/ledger.ts'
import { findUsage } from './find-usage.ts'
import { readMembers } from './rename-model.ts'

/** What a request says of its stream. */
interface StreamRequest {
  stream?: unknown
  stream_options?: object | null | undefined
}

const usageMember = Buffer.from('"usage"')

/**
 * Whether a stream's usage must be asked for in the client's place: unless it said how it wants it, it gets none. What is
 * neither true, false nor absent is the engine's to judge.
 */
export function asksForUsage({ stream, stream_options: options }: StreamRequest): boolean {
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
  passEvent(data: Buffer): boolean {
    if (!data.includes(usageMember)) {
      this.#events++
      return true
    }
    const found = this.#hidesUsage ? undefined : findUsage(data)
    if (!found) return this.#passMembers(data)
    this.#usage = found
    return true
  }

  /** Reads the members of a complete reply. */
  readReply(members: ReturnType<typeof readMembers>): void {
    const usage = parse(members?.get('usage')) as Record<string, unknown> | null | undefined
    if (!usage) return
    this.record({
      promptTokens: readCount(usage['prompt_tokens']),
      completionTokens: readCount(usage['completion_tokens']),
    })
  }

  /** The engine has said what the chat used. */
  record(usage: ChatTokens): void {
    this.#usage = usage
  }

  #passMembers(data: Buffer): boolean {
    const members = readMembers(data)
    if (!members?.has('usage')) {
      this.#events++
      return true
    }
    this.readReply(members)
    return !(this.#hidesUsage && isEmptyList(members.get('choices')))
  }
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
