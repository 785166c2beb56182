import { randomUUID } from 'node:crypto'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

interface TextPart {
  type: 'output_text'
  text: string
  annotations: never[]
  logprobs: unknown[]
}

interface ReasoningPart {
  type: 'reasoning_text'
  text: string
}

export interface MessageItem {
  id: string
  type: 'message'
  status: ItemStatus
  role: 'assistant'
  content: TextPart[]
}

export interface ReasoningItem {
  id: string
  type: 'reasoning'
  status: ItemStatus
  summary: never[]
  content: ReasoningPart[]
  encrypted_content: null
}

export interface CallItem {
  id: string
  type: 'function_call'
  status: ItemStatus
  call_id: string
  name: string
  arguments: string
}

export type OutputItem = MessageItem | ReasoningItem | CallItem

/** Creates an id in OpenAI's form: a prefix for the kind, then letters and digits. */
export function makeId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}

/** The response that an item belongs to, and the item's index in it. */
export interface ItemPosition {
  responseId: string
  index: number
}

/** The id of an item. It contains the id of its response. */
function makeItemId(prefix: string, { responseId, index }: ItemPosition): string {
  return `${prefix}_${responseId.replace(/^resp_/, '')}${index.toString(16)}`
}

/** The id of the response that an item belongs to. Undefined for an id that was not made here. */
export function findResponseId(itemId: string): string | undefined {
  const [, digits] = /^(?:msg|rs|fc)_([0-9a-f]{32})[0-9a-f]+$/.exec(itemId) ?? []
  return digits === undefined ? undefined : `resp_${digits}`
}

export function makeMessage(position: ItemPosition): MessageItem {
  return { id: makeItemId('msg', position), type: 'message', status: 'in_progress', role: 'assistant', content: [] }
}

export function makeReasoning(position: ItemPosition): ReasoningItem {
  const id = makeItemId('rs', position)
  return { id, type: 'reasoning', status: 'in_progress', summary: [], content: [], encrypted_content: null }
}

export function makeCall(position: ItemPosition, { callId, name }: { callId: string; name: string }): CallItem {
  return {
    id: makeItemId('fc', position),
    type: 'function_call',
    status: 'in_progress',
    call_id: callId,
    name,
    arguments: '',
  }
}

export function makeTextPart(): TextPart {
  return { type: 'output_text', text: '', annotations: [], logprobs: [] }
}

export function makeReasoningPart(): ReasoningPart {
  return { type: 'reasoning_text', text: '' }
}
