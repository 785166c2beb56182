import { randomUUID } from 'node:crypto'
import {
  addChatUsage,
  expireUsageWriters,
  type ChatUsage,
  type UsageAccount,
  type UsageBatch,
} from '../../../db/accounts/chat-usage.ts'
import type { Pool } from '../../../db/pool.ts'

const hourMs = 3_600_000

export interface ChatTokens {
  promptTokens: number
  completionTokens: number
}

/**
 * Collects the usage of chats in memory, and `flush` writes it, so that no chat waits for it. A killed process loses
 * the usage since its last flush.
 */
export class UsageLedger {
  readonly #pool: Pool
  readonly #process = randomUUID()
  #rows = new Map<string, ChatUsage>()
  #batches = 0
  /** A batch whose write is not confirmed. It is sent again unchanged, before anything newer. */
  #pending: UsageBatch | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Records a finished chat. */
  add(account: UsageAccount, tokens: ChatTokens, now: Date = new Date()): void {
    const hour = Math.floor(now.getTime() / hourMs)
    const name = nameRow(hour, account)
    const known = this.#rows.get(name) ?? openRow(hour, account)
    known.requests++
    known.promptTokens += tokens.promptTokens
    known.completionTokens += tokens.completionTokens
    this.#rows.set(name, known)
  }

  /** Writes the collected usage. If that fails, keeps it for the next time. */
  async flush(): Promise<void> {
    if (this.#pending) await this.#send(this.#pending)
    if (this.#rows.size === 0) return
    if (this.#batches === 0) await expireUsageWriters(this.#pool)
    const rows = [...this.#rows.values()]
    this.#rows = new Map()
    await this.#send({ process: this.#process, number: ++this.#batches, rows })
  }

  async #send(batch: UsageBatch): Promise<void> {
    this.#pending = batch
    await addChatUsage(this.#pool, batch)
    this.#pending = undefined
  }
}

/** Identifies a row of an hour. The base model comes last, because its name can contain any character. */
function nameRow(hour: number, { entity, project, modelId, baseModel, keyId }: UsageAccount): string {
  return `${hour}\n${entity}\n${project ?? ''}\n${modelId ?? ''}\n${keyId}\n${baseModel}`
}

function openRow(hour: number, account: UsageAccount): ChatUsage {
  return { ...account, hour: new Date(hour * hourMs).toISOString(), requests: 0, promptTokens: 0, completionTokens: 0 }
}
