import { expect } from 'vitest'
import type { ApiStack } from '../../support/services.ts'
import { post } from '../../support/post.ts'

export interface Token {
  token: string
  logprob: number
  bytes: number[]
  top_logprobs: Token[]
}

export interface ToolCall {
  id: string
  type: string
  index?: number
  function: { name?: string; arguments: string }
}

export interface Message {
  role: string
  content: string | null
  tool_calls?: ToolCall[]
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number } | null
}

interface AnyChoice {
  index: number
  logprobs: { content: Token[] } | null
  finish_reason: string | null
  stop_reason: number | string | null
  token_ids: number[]
}

export interface Choice extends AnyChoice {
  message: Message
}

interface AnyReply {
  id: string
  object: string
  model: string
  usage: Usage
  prompt_token_ids: number[] | null
  prompt_text: string
}

export interface Reply extends AnyReply {
  choices: Choice[]
  prompt_logprobs: (Record<string, { logprob: number }> | null)[] | null
}

export interface Chunk extends AnyReply {
  choices: (AnyChoice & { delta: Partial<Message> })[]
}

/** The error of a rejected request. */
export interface Rejection {
  status: number
  error: { message: string; param: string | null; code: string }
}

/** A test of one member of requests. */
export type Row = (chat: ChatClient) => Promise<void>

/** Asks the base model for a few of its most likely tokens, with the given members. */
export class ChatClient {
  readonly #stack: Pick<ApiStack, 'url' | 'apiKey' | 'baseModel'>

  constructor(stack: Pick<ApiStack, 'url' | 'apiKey' | 'baseModel'>) {
    this.#stack = stack
  }

  get model(): string {
    return this.#stack.baseModel
  }

  /** The body of a request, for changes to its text. */
  write(body: object): string {
    const messages = [{ role: 'user', content: 'Tell me about the sea.' }]
    return JSON.stringify({ model: this.model, messages, max_completion_tokens: 6, temperature: 0, ...body })
  }

  async reply(body: object | string): Promise<Reply> {
    const [status, text] = await this.#post(body)
    expect(status, text).toBe(200)
    return JSON.parse(text) as Reply
  }

  /** Returns the first choice of a reply, with the ids of its tokens. */
  async choose(body: object): Promise<Choice> {
    const { choices } = await this.reply({ return_token_ids: true, ...body })
    return choices[0]!
  }

  async text(body: object | string): Promise<string | null> {
    const { choices } = await this.reply(body)
    return choices[0]!.message.content
  }

  async stream(body: object): Promise<Chunk[]> {
    const [status, text] = await this.#post({ stream: true, ...body })
    expect(status, text).toBe(200)
    const events = text.trimEnd().split('\n\n')
    expect(events.pop()).toBe('data: [DONE]')
    return events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk)
  }

  async reject(body: object | string): Promise<Rejection> {
    const [status, text] = await this.#post(body)
    expect(status, text).toBeGreaterThanOrEqual(400)
    return { status, error: (JSON.parse(text) as Rejection).error }
  }

  async #post(body: object | string): Promise<[number, string]> {
    const { url, apiKey } = this.#stack
    const text = typeof body === 'string' ? body : this.write(body)
    const response = await post(`${url}/v1/chat/completions`, apiKey, text)
    return [response.status, await response.text()]
  }
}

/** Expects a 422 for a request with this member, and a message that contains these words. */
export const rejects =
  (body: object, param: string, words: string): Row =>
  async (chat) => {
    const { status, error } = await chat.reject(body)
    expect(error).toMatchObject({ param, message: expect.stringContaining(words) as unknown })
    expect(status).toBe(422)
  }
