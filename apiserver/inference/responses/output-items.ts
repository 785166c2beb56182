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

/** An id as OpenAI's are: what it is of, and letters and digits. */
export function makeId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}

export function makeMessage(): MessageItem {
  return { id: makeId('msg'), type: 'message', status: 'in_progress', role: 'assistant', content: [] }
}

export function makeReasoning(): ReasoningItem {
  const id = makeId('rs')
  return { id, type: 'reasoning', status: 'in_progress', summary: [], content: [], encrypted_content: null }
}

export function makeCall(callId: string, name: string): CallItem {
  return { id: makeId('fc'), type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' }
}

export function makeTextPart(): TextPart {
  return { type: 'output_text', text: '', annotations: [], logprobs: [] }
}

export function makeReasoningPart(): ReasoningPart {
  return { type: 'reasoning_text', text: '' }
}
