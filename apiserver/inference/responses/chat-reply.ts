import { isObject } from '../../../lib/json/is-object.ts'
import type { Generation } from './generation.ts'
import type { ResponseOutput } from './output.ts'

/** The tokens of a response, in OpenAI's names. */
export interface ResponseUsage {
  input_tokens: number
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** Where the parts of a chat's reply go. */
export interface ReplyTarget {
  output: ResponseOutput
  generation: Generation
  /** Whether the parts of the output have their log-probabilities. */
  hasLogprobs: boolean
}

/** Reads the reply of a chat into an output, and keeps its finish reason, usage and error. */
export class ChatReplyReader {
  finishReason: string | null = null
  usage: ResponseUsage | null = null
  /** The engine's error message in a stream that it cut off. */
  error: string | undefined
  readonly #output: ResponseOutput
  readonly #generation: Generation
  readonly #hasLogprobs: boolean

  constructor({ output, generation, hasLogprobs }: ReplyTarget) {
    this.#output = output
    this.#generation = generation
    this.#hasLogprobs = hasLogprobs
  }

  /** Reads a complete reply, or one event of a stream. */
  read(reply: unknown): void {
    if (!isObject(reply)) return
    this.error ??= readError(reply['error'])
    this.usage = convertUsage(reply['usage']) ?? this.usage
    const choice: unknown = Array.isArray(reply['choices']) ? reply['choices'][0] : undefined
    if (!isObject(choice)) return
    const logprobs = readLogprobs(choice['logprobs'])
    this.#generation.add({ ...choice, prompt_token_ids: reply['prompt_token_ids'], logprobs })
    const message = choice['delta'] ?? choice['message']
    if (isObject(message)) this.#readMessage(message, this.#hasLogprobs ? logprobs : [])
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason']
  }

  /** Older engines use the second name for the reasoning. */
  #readMessage(message: Record<string, unknown>, logprobs: unknown[]): void {
    const { reasoning, reasoning_content: older, content, tool_calls: calls } = message
    const thought = reasoning ?? older
    if (isFull(thought)) this.#output.addReasoning(thought)
    if (isFull(content)) this.#output.addText(content, logprobs)
    for (const [at, call] of (Array.isArray(calls) ? calls : []).entries()) this.#readCall(call, at)
  }

  /** Calls in a complete reply have no index. */
  #readCall(call: unknown, at: number): void {
    const given = isObject(call) && isObject(call['function']) ? call['function'] : undefined
    if (!isObject(call) || !given) return
    const index = typeof call['index'] === 'number' ? call['index'] : at
    const [id, name, text] = [call['id'], given['name'], given['arguments']].map((value) =>
      typeof value === 'string' ? value : undefined,
    )
    this.#output.addCall({ index, id, name, arguments: text ?? '' })
  }
}

function isFull(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function readLogprobs(logprobs: unknown): unknown[] {
  return isObject(logprobs) && Array.isArray(logprobs['content']) ? logprobs['content'] : []
}

function readError(error: unknown): string | undefined {
  if (!isObject(error)) return undefined
  return typeof error['message'] === 'string' ? error['message'] : 'The engine failed to answer.'
}

function convertUsage(usage: unknown): ResponseUsage | undefined {
  if (!isObject(usage)) return undefined
  const [input, output] = [readCount(usage['prompt_tokens']), readCount(usage['completion_tokens'])]
  const cached = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details']['cached_tokens'] : 0
  const details = usage['completion_tokens_details']
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: readCount(cached), cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: readCount(isObject(details) ? details['reasoning_tokens'] : 0) },
    total_tokens: input + output,
  }
}

function readCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
