import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../lib/log.ts'
import { runInTurn } from '../../../lib/request-scope.ts'
import { MemoryBudget, type MemoryReservation } from '../../../lib/memory-budget.ts'
import { turnOf, type RequestState } from '../../accounts/context.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import { memoryLimits } from '../../accounts/limits/table.ts'
import type { RequestMemory } from '../../accounts/limits/request-memory.ts'
import type { ChatTrace, ChatTraces, TracedOperation } from '../../inference/chat-traces.ts'
import { buildCall, nowText, writeCall, type GatheredChat, type WriteDeps } from './write-chat.ts'

// The values of a chat are parsed again when it is written, between other requests.
const maxChatBytes = 1024 * 1024
// For the bytes of a chat, and for the call that is built from it. Only one chat is parsed at a time.
const memoryPerByte = 2
// The limit of all chats that are collected or wait to be written. An entity has a quarter of it. The bytes also count
// as memory of requests, but separately, so that traces of an entity use no memory of its chats.
const maxBytes = memoryLimits.chat_trace_memory.bytes
const memoryShare = 'traces of chats'
const reportIntervalMs = 10_000

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
  readonly #admission: Pick<Admission, 'acquire' | 'run'>
  readonly #recording = new Set<Promise<void>>()
  #dropped = 0
  #isTelling = false

  constructor(deps: WriteDeps & { admission: Pick<Admission, 'acquire' | 'run'>; memory: RequestMemory; log: Logger }) {
    this.#deps = deps
    this.#admission = deps.admission
    this.#memory = deps.memory
    this.#log = deps.log
  }

  begin(state: RequestState, operation: TracedOperation): ChatTrace {
    const gathered = new Gathering([this.#budget.open(state.caller.entity), this.#memory.reserve(memoryShare)])
    return {
      keepRequest: (bytes) => gathered.keepRequest(bytes),
      keepReply: (bytes) => gathered.keepReply(bytes),
      abandon: () => gathered.release(),
      // A chat may end outside of its request.
      end: (outcome) =>
        this.#start(runInTurn(turnOf(state.caller), () => this.#record(state, gathered, { operation, outcome }))),
    }
  }

  /** Waits until the queued chats are written, and logs how many were dropped. Chats that end later are lost. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#recording), delay(timeoutMs, undefined, { ref: false })])
    this.#dropped += this.#recording.size
    this.#report()
  }

  #start(recording: Promise<void>): void {
    this.#recording.add(recording)
    void recording.then(() => this.#recording.delete(recording))
  }

  async #record(state: RequestState, gathered: Gathering, end: ChatEnd): Promise<void> {
    let leave = () => {}
    try {
      if (gathered.isDropped) throw new Error('the chat is too large, or there is no memory for it')
      leave = await this.#admission.acquire('chat_traces')
      const chat = { ...gathered.finish(), ...end }
      const part = await this.#admission.run('chat_trace_builds', async () => {
        await setImmediate()
        return buildCall(chat, state.caller.keyId)
      })
      await writeCall(this.#deps, state, { project: end.outcome.project, part })
    } catch (error) {
      this.#log.debug({ error }, 'chat not traced')
      this.#drop()
    } finally {
      leave()
      gathered.release()
    }
  }

  #drop(): void {
    this.#dropped++
    if (this.#isTelling) return
    this.#isTelling = true
    setTimeout(() => this.#report(), reportIntervalMs).unref()
  }

  #report(): void {
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
