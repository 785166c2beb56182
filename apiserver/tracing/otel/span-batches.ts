import type { HeldMemory } from '../../limits/request-memory.ts'
import type { CallPart } from '../calls/parts.ts'
import type { CallWriter } from '../calls/writer.ts'
import type { Project } from '../projects.ts'

const mostCalls = 1_000
const mostBytes = 4 * 1024 * 1024

/** Counts bytes as stored. @throws {Refusal} 403 when their entity may not store so much */
export type TakeRoom = (bytes: number) => Promise<void>

/** Calls on their way to their projects, some at a time: a request's spans take far more memory as calls. */
export class SpanBatches {
  readonly #calls: Pick<CallWriter, 'write'>
  readonly #memory: Pick<HeldMemory, 'add' | 'drop'>
  readonly #takeRoom: TakeRoom
  readonly #parts = new Map<Project, CallPart[]>()
  #count = 0
  #bytes = 0

  constructor(
    calls: Pick<CallWriter, 'write'>,
    { memory, takeRoom }: { memory: Pick<HeldMemory, 'add' | 'drop'>; takeRoom: TakeRoom },
  ) {
    this.#calls = calls
    this.#memory = memory
    this.#takeRoom = takeRoom
  }

  /** @throws {Refusal} 429 or 503 when there is no memory for the call */
  async add(project: Project, call: CallPart): Promise<void> {
    this.#memory.add(sizeOf(call))
    const parts = this.#parts.get(project)
    if (parts) parts.push(call)
    else this.#parts.set(project, [call])
    this.#count++
    this.#bytes += sizeOf(call)
    if (this.#count >= mostCalls || this.#bytes >= mostBytes) await this.flush()
  }

  /** Everything that was added is durable when it resolves. */
  async flush(): Promise<void> {
    // Calls take far more than the request, which repeats a resource for all of its spans only once.
    await this.#takeRoom(this.#bytes)
    for (const [project, parts] of this.#parts) await this.#calls.write(project, parts)
    this.#parts.clear()
    this.#memory.drop(this.#bytes)
    this.#count = 0
    this.#bytes = 0
  }
}

/** The bytes of a call's payloads. */
export function sizeOf({ start, end }: CallPart): number {
  const texts = [start?.attributes, start?.inputs, start?.otelDump, end?.output, end?.summary]
  return texts.reduce((sum, text) => sum + (text?.size ?? 0), 0)
}
