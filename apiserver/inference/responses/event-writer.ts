import type { ItemEvent } from './output.ts'

/** Writes and numbers the events of a streamed response, in the form of server-sent events. */
export class EventWriter {
  #number = 0
  #text = ''

  /** Writes an event at once, because its values change later. */
  write({ type, ...event }: ItemEvent): void {
    const data = JSON.stringify({ type, sequence_number: this.#number++, ...event })
    this.#text += `event: ${type}\ndata: ${data}\n\n`
  }

  /** Returns the text that was written since the last call. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
