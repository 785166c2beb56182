import type { ItemEvent } from './output.ts'

/** Writes events of a streamed response, in the form of server-sent events, and numbers them. */
export class EventWriter {
  #number = 0
  #text = ''

  /** Writes an event at once, because its values change afterwards. */
  write({ type, ...event }: ItemEvent): void {
    const data = JSON.stringify({ type, sequence_number: this.#number++, ...event })
    this.#text += `event: ${type}\ndata: ${data}\n\n`
  }

  /** What was written since this was asked for last. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
