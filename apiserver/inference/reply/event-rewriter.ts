import type { ChatMeter } from './chat-meter.ts'
import { writeModelMember, renameModel, type ModelNames } from './rename-model.ts'
import type { Splice } from './splice.ts'

/** What becomes of the data of one event after the other. */
export class EventRewriter {
  readonly #names: ModelNames
  readonly #meter: ChatMeter
  /** As the engine writes it, and as the client is to read it. */
  readonly #written: Buffer
  readonly #read: Buffer

  constructor(names: ModelNames, meter: ChatMeter) {
    this.#names = names
    this.#meter = meter
    this.#written = writeModelMember(names.engineName)
    this.#read = writeModelMember(names.requestedName)
  }

  /** Puts the client's name of the model into data, and counts it. Answers false when the client does not get the event. */
  rewrite(splice: Splice, start: number, end: number): boolean {
    const data = splice.bytes.subarray(start, end)
    if (!this.#meter.passEvent(data)) return false
    const at = data.indexOf(this.#written)
    if (at >= 0) splice.replace(start + at, start + at + this.#written.length, this.#read)
    else splice.replace(start, end, renameModel(data, this.#names))
    return true
  }
}
