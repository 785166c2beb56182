import type { ChatMeter } from './chat-meter.ts'
import { writeModelMember, renameModel, type ModelNames } from './rename-model.ts'
import type { Splice } from './splice.ts'

/** Rewrites the data of events, one event after the other. */
export class EventRewriter {
  readonly #names: ModelNames
  readonly #meter: ChatMeter
  /** The model's name as the engine writes it, and as the client reads it. */
  readonly #written: Buffer
  readonly #read: Buffer

  constructor(names: ModelNames, meter: ChatMeter) {
    this.#names = names
    this.#meter = meter
    this.#written = writeModelMember(names.engineName)
    this.#read = writeModelMember(names.requestedName)
  }

  /**
   * Writes the client's name of the model into an event's data, and counts its tokens. Returns false if the client does
   * not get the event.
   */
  rewrite(splice: Splice, start: number, end: number): boolean {
    const data = splice.bytes.subarray(start, end)
    if (!this.#meter.passEvent(data)) return false
    const at = data.indexOf(this.#written)
    if (at >= 0) splice.replace(start + at, start + at + this.#written.length, this.#read)
    else splice.replace(start, end, renameModel(data, this.#names))
    return true
  }
}
