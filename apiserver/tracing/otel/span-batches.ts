import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { measurePart, type CallPart } from '../calls/parts.ts'
import type { CallWriter } from '../calls/writer.ts'
import type { Project } from '../projects.ts'

const maxCalls = 1_000
const maxBytes = 4 * 1024 * 1024

/** Writes calls in batches: the calls of a request take far more memory than its spans. */
export class SpanBatches {
  readonly #calls: Pick<CallWriter, 'write'>
  readonly #memory: Pick<RequestReservation, 'add' | 'drop'>
  readonly #incoming: Pick<IncomingBytes, 'add'>
  readonly #parts = new Map<Project, CallPart[]>()
  #count = 0
  #bytes = 0

  constructor(
    calls: Pick<CallWriter, 'write'>,
    { memory, incoming }: { memory: Pick<RequestReservation, 'add' | 'drop'>; incoming: Pick<IncomingBytes, 'add'> },
  ) {
    this.#calls = calls
    this.#memory = memory
    this.#incoming = incoming
  }

  /** @throws {HttpError} 429 or 503 when there is not enough memory for the call */
  async add(project: Project, call: CallPart): Promise<void> {
    const size = measurePart(call)
    this.#memory.add(size)
    const parts = this.#parts.get(project)
    if (parts) parts.push(call)
    else this.#parts.set(project, [call])
    this.#count++
    this.#bytes += size
    if (this.#count >= maxCalls || this.#bytes >= maxBytes) await this.flush()
  }

  /**
   * Writes all calls that were added. They are durable when it resolves. @throws {HttpError} 403 when the entity's
   * storage is full
   */
  async flush(): Promise<void> {
    // The calls may be far larger than the request: each call contains the resource, which the request has once.
    this.#incoming.add(this.#bytes)
    for (const [project, parts] of this.#parts) await this.#calls.write(project, parts)
    this.#parts.clear()
    this.#memory.drop(this.#bytes)
    this.#count = 0
    this.#bytes = 0
  }
}
