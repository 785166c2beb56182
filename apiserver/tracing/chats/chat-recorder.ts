import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import type { Logger } from '../../../lib/log.ts'
import { MemoryBudget, type MemoryReservation } from '../../../lib/memory-budget.ts'
import type { RequestState } from '../../accounts/context.ts'
import { memoryPlan } from '../../accounts/limits/memory-plan.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { turnOf } from '../../accounts/limits/turn.ts'
import type { ChatTrace, ChatTraces, TracedOperation } from '../../inference/chat-traces.ts'
import { buildCall, nowText, writeCall, type GatheredChat, type WriteDeps } from './write-chat.ts'

// The values of a chat are parsed again when it is written, between other requests.
const maxChatBytes = 1024 * 1024
// For the bytes of a chat, and for the call that is built from it. Only one chat is parsed at a time.
const memoryPerByte = 2
// The limit of all chats that are collected or wait to be written. An entity has a quarter of it. The bytes also count
// as memory of requests, but separately, so that traces of an entity use no memory of its chats.
const maxBytes = memoryPlan.chatTraces.bytes
const memoryShare = 'traces of chats'
// Chats that wait to be written. Like the memory, these are of each process: its own lanes to Postgres empty the queue.
const waiting = { permits: 512, permitsPerKey: 128 }
const tellEveryMs = 10_000

/** The values of a chat at its end, besides its bytes. */
type ChatEnd = Pick<GatheredChat, 'operation' | 'outcome'>

/**
 * Records chats as calls, after they were answered. Chats are dropped and counted in the log if they are too large, or
 * if there is not enough memory or too many of them wait. No chat waits or fails because it is recorded.
 */
export class ChatRecorder implements ChatTraces {
  readonly #deps: WriteDeps
  readonly #memory: RequestMemory
  readonly #log: Logger
  readonly #budget = new MemoryBudget(maxBytes)
  readonly #places = new FairSemaphore(waiting)
  /** Calls are built one at a time. They are written together. */
  readonly #turns = new FairSemaphore({ permits: 1 })
  readonly #recording = new Set<Promise<void>>()
  #dropped = 0
  #isTelling = false

  constructor(deps: WriteDeps & { memory: RequestMemory; log: Logger }) {
    this.#deps = deps
    this.#memory = deps.memory
    this.#log = deps.log
  }

  begin(state: RequestState, operation: TracedOperation): ChatTrace {
    const gathered = new Gathering([this.#budget.open(state.caller.entity), this.#memory.reserve(memoryShare)])
    return {
      keepRequest: (bytes) => gathered.keepRequest(bytes),
      keepReply: (bytes) => gathered.keepReply(bytes),
      abandon: () => gathered.release(),
      end: (outcome) => this.#start(this.#record(state, gathered, { operation, outcome })),
    }
  }

  /** Waits until the queued chats are written, and logs how many were dropped. Chats that end later are lost. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#recording), delay(timeoutMs, undefined, { ref: false })])
    this.#dropped += this.#recording.size
    this.#tell()
  }

  #start(recording: Promise<void>): void {
    this.#recording.add(recording)
    void recording.then(() => this.#recording.delete(recording))
  }

  async #record(state: RequestState, gathered: Gathering, end: ChatEnd): Promise<void> {
    const leave = gathered.isDropped ? undefined : this.#places.tryAcquire({ key: state.caller.entity })
    try {
      if (!leave) {
        this.#drop()
        return
      }
      const chat = { ...gathered.finish(), ...end }
      const part = await this.#turns.run(turnOf(state.caller), async () => {
        await setImmediate()
        return buildCall(chat, state.caller.keyId)
      })
      await writeCall(this.#deps, state, { project: end.outcome.project, part })
    } catch (error) {
      this.#log.debug({ error }, 'chat not traced')
      this.#drop()
    } finally {
      leave?.()
      gathered.release()
    }
  }

  #drop(): void {
    this.#dropped++
    if (this.#isTelling) return
    this.#isTelling = true
    setTimeout(() => this.#tell(), tellEveryMs).unref()
  }

  #tell(): void {
    if (this.#dropped > 0) this.#log.warn({ dropped: this.#dropped }, 'chats not traced')
    this.#dropped = 0
    this.#isTelling = false
  }
}

type Reservation = Pick<MemoryReservation, 'add' | 'release'>

/** The bytes of a chat. Their memory is reserved. */
class Gathering {
  readonly #memory: Reservation[]
  readonly #startedAt = nowText()
  #request: Buffer[] = []
  #reply: Buffer[] = []
  #bytes = 0
  isDropped = false

  constructor(memory: Reservation[]) {
    this.#memory = memory
  }

  /** The bytes are changed later, so they are copied. */
  keepRequest(bytes: Buffer): void {
    if (this.#reserve(bytes.length)) this.#request.push(Buffer.from(bytes))
  }

  keepReply(bytes: Buffer): void {
    if (this.#reserve(bytes.length)) this.#reply.push(bytes)
  }

  finish(): Omit<GatheredChat, keyof ChatEnd> {
    const [request, reply] = [Buffer.concat(this.#request), Buffer.concat(this.#reply)]
    return { request, reply, startedAt: this.#startedAt, endedAt: nowText() }
  }

  release(): void {
    this.isDropped = true
    this.#request = []
    this.#reply = []
    for (const memory of this.#memory) memory.release()
  }

  #reserve(bytes: number): boolean {
    if (this.isDropped) return false
    this.#bytes += bytes
    try {
      if (this.#bytes > maxChatBytes) this.release()
      else for (const memory of this.#memory) memory.add(bytes * memoryPerByte)
    } catch {
      this.release()
    }
    return !this.isDropped
  }
}
