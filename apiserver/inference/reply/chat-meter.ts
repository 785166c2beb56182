import type { ChatTokens } from '../../accounts/usage/ledger.ts'
import { findUsage } from './find-usage.ts'
import { readMembers } from './rename-model.ts'

/** The members of a request that describe its stream. */
interface StreamRequest {
  stream?: unknown
  stream_options?: object | null | undefined
}

const usageMember = Buffer.from('"usage"')

/**
 * Whether the gateway must ask for a stream's usage, because the client did not. A value that is neither true, false
 * nor absent is passed on, and the engine rejects it.
 */
export function asksForUsage({ stream, stream_options: options }: StreamRequest): boolean {
  const { include_usage: wanted = null } = (options ?? {}) as { include_usage?: unknown }
  return stream === true && (wanted === null || wanted === false)
}

/** Stream options that make the engine send the usage at the end of the stream. */
export function withUsage(options: object | null | undefined): Record<string, unknown> {
  // Without include_usage, the engine ignores this option. With include_usage, it would change every event.
  const { continuous_usage_stats: _, ...rest } = (options ?? {}) as Record<string, unknown>
  return { ...rest, include_usage: true }
}

/** Counts the tokens of a chat while its reply passes. */
export class ChatMeter {
  readonly #hidesUsage: boolean
  #events = 0
  #usage: ChatTokens | undefined

  /** @param hidesUsage whether the client did not ask for the event that contains only the usage */
  constructor(hidesUsage: boolean) {
    this.#hidesUsage = hidesUsage
  }

  /**
   * The usage that the engine reported. If a stream was cut off before that, one token for each event, because engines
   * send one token in each event, and none for the prompt.
   */
  get tokens(): ChatTokens {
    return this.#usage ?? { promptTokens: 0, completionTokens: this.#events }
  }

  /** Reads an event's data. Returns whether the client gets the event. */
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

  /** Records the usage that the engine reported. */
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
