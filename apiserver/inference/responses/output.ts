import {
  makeCall,
  makeId,
  makeMessage,
  makeReasoning,
  makeReasoningPart,
  makeTextPart,
  type CallItem,
  type ItemPosition,
  type ItemStatus,
  type MessageItem,
  type OutputItem,
  type ReasoningItem,
} from './output-items.ts'

// Of the value, and of the text of the last event.
const bytesPerCharacter = 4

/** An event of a streamed response, without its number. */
export type ItemEvent = { type: string } & Record<string, unknown>

/** A piece of a tool call in a chat's reply. */
export interface CallPiece {
  index: number
  id?: string | undefined
  name?: string | undefined
  arguments: string
}

/**
 * Builds the output of a response from the pieces of a chat's reply. Each change is an event. Only one item is open at
 * a time, because models write one item after the other.
 */
export class ResponseOutput {
  readonly items: OutputItem[] = []
  /** Its approximate size in memory. */
  size = 0
  readonly #responseId: string
  readonly #emit: (event: ItemEvent) => void
  /** The index of the open call in the chat's calls. */
  #callIndex = -1

  /** @param emit is called with values that change later */
  constructor(responseId: string, emit: (event: ItemEvent) => void = () => {}) {
    this.#responseId = responseId
    this.#emit = emit
  }

  addReasoning(delta: string): void {
    const item = this.#findOpen('reasoning') ?? this.#openText(makeReasoning(this.#next), makeReasoningPart())
    item.content[0]!.text += delta
    this.size += bytesPerCharacter * delta.length
    this.#emit({ type: 'response.reasoning_text.delta', ...this.#locatePart(item), delta })
  }

  addText(delta: string, logprobs: unknown[]): void {
    const item = this.#findOpen('message') ?? this.#openText(makeMessage(this.#next), makeTextPart())
    const part = item.content[0]!
    part.text += delta
    part.logprobs.push(...logprobs)
    this.size += bytesPerCharacter * delta.length
    if (logprobs.length > 0) this.size += bytesPerCharacter * JSON.stringify(logprobs).length
    this.#emit({ type: 'response.output_text.delta', ...this.#locatePart(item), delta, logprobs })
  }

  addCall({ index, id, name, arguments: delta }: CallPiece): void {
    const open = index === this.#callIndex ? this.#findOpen('function_call') : undefined
    const item = open ?? this.#openCall(index, makeCall(this.#next, { callId: id ?? makeId('call'), name: name ?? '' }))
    if (delta === '') return
    item.arguments += delta
    this.size += bytesPerCharacter * delta.length
    this.#emit({ type: 'response.function_call_arguments.delta', ...this.#locate(item), delta })
  }

  /** Closes the open item. */
  close(status: ItemStatus = 'completed'): void {
    const item = this.items.at(-1)
    if (item?.status !== 'in_progress') return
    item.status = status
    if (item.type === 'function_call') this.#endCall(item)
    else this.#endPart(item)
    this.#emit({ type: 'response.output_item.done', output_index: this.items.length - 1, item })
  }

  /** The position of the next item. */
  get #next(): ItemPosition {
    return { responseId: this.#responseId, index: this.items.length }
  }

  #findOpen<T extends OutputItem['type']>(type: T): Extract<OutputItem, { type: T }> | undefined {
    const item = this.items.at(-1)
    return item?.status === 'in_progress' && isOfType(item, type) ? item : undefined
  }

  /** Opens an item whose content is one part. */
  #openText<Part, Item extends OutputItem & { content: Part[] }>(item: Item, part: Part): Item {
    this.#open(item)
    item.content.push(part)
    this.#emit({ type: 'response.content_part.added', ...this.#locatePart(item), part })
    return item
  }

  #openCall(index: number, item: CallItem): CallItem {
    this.#open(item)
    this.#callIndex = index
    return item
  }

  #open(item: OutputItem): void {
    this.close()
    this.items.push(item)
    this.#emit({ type: 'response.output_item.added', output_index: this.items.length - 1, item })
  }

  #endPart(item: MessageItem | ReasoningItem): void {
    const position = this.#locatePart(item)
    if (item.type === 'reasoning') {
      this.#emit({ type: 'response.reasoning_text.done', ...position, text: item.content[0]!.text })
    } else {
      const { text, logprobs } = item.content[0]!
      this.#emit({ type: 'response.output_text.done', ...position, text, logprobs })
    }
    this.#emit({ type: 'response.content_part.done', ...position, part: item.content[0] })
  }

  #endCall(item: CallItem): void {
    const { name, arguments: whole } = item
    this.#emit({ type: 'response.function_call_arguments.done', ...this.#locate(item), name, arguments: whole })
  }

  #locate({ id }: OutputItem) {
    return { item_id: id, output_index: this.items.length - 1 }
  }

  #locatePart(item: OutputItem) {
    return { ...this.#locate(item), content_index: 0 }
  }
}

function isOfType<T extends OutputItem['type']>(item: OutputItem, type: T): item is Extract<OutputItem, { type: T }> {
  return item.type === type
}
