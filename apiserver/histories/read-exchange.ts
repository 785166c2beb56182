// Reads an exchange that a client captured: a request to a model and its answer, in one of four protocols. All become
// messages and Choices, as clients write them in `messages_and_choices`.

import { parseTime } from '../../lib/http/validation/time.ts'

export type Item = Record<string, unknown>

/** The protocols, by their member of `exchanges`. */
export const exchangeKinds = ['chat_completions', 'completions', 'responses', 'messages'] as const
type ExchangeKind = (typeof exchangeKinds)[number]

/** What was asked, and each answer to it. */
export interface Exchange {
  /** The model's name in the request, or in the response of a request without one. */
  model: string
  /** When it began and ended, in microseconds. */
  times: readonly [number, number]
  messages: Item[]
  choices: Item[]
  tools: unknown
  /** The ids of the prompt, if the server returned them. */
  promptIds: unknown
}

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const itemsOf = (value: unknown): Item[] => (Array.isArray(value) ? value.filter(isItem) : [])

/** Reads all exchanges in the order of their times. Whatever is no message is left out. */
export function readExchanges(exchanges: unknown): Exchange[] {
  if (!isItem(exchanges)) return []
  return exchangeKinds
    .flatMap((kind) => itemsOf(exchanges[kind]).map((exchange) => readExchange(kind, exchange)))
    .sort((a, b) => a.times[0] - b.times[0] || a.times[1] - b.times[1])
}

function readExchange(kind: ExchangeKind, exchange: Item): Exchange {
  const request = isItem(exchange['request']) ? exchange['request'] : {}
  const response = isItem(exchange['response']) ? exchange['response'] : {}
  return {
    model: readName(request['model']) || readName(response['model']),
    times: [readTime(exchange['start_time']), readTime(exchange['end_time'])],
    tools: Array.isArray(request['tools']) ? request['tools'].map(readTool) : request['tools'],
    promptIds: response['prompt_token_ids'] ?? itemsOf(response['choices'])[0]?.['prompt_token_ids'],
    ...readers[kind](request, response),
  }
}

const readName = (name: unknown) => (typeof name === 'string' ? name : '')

/** What is no time is before all others. */
function readTime(value: unknown): number {
  const text = typeof value === 'string' ? value : ''
  const [, microseconds = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? []
  const time = parseTime(text)
  return time ? time.getTime() * 1000 + Number(microseconds.padEnd(3, '0')) : Number.MIN_SAFE_INTEGER / 2
}

const readers: Record<ExchangeKind, (request: Item, response: Item) => Pick<Exchange, 'messages' | 'choices'>> = {
  chat_completions: (request, response) => ({
    messages: itemsOf(request['messages']),
    choices: itemsOf(response['choices']),
  }),
  completions: (request, response) => ({
    messages: [{ role: 'user', content: writePrompt(request['prompt']) }],
    choices: itemsOf(response['choices']).map(readCompletion),
  }),
  responses: (request, response) => ({
    messages: [...readSystem(request['instructions']), ...readInput(request['input'])],
    choices: [readResponse(response)],
  }),
  messages: (request, response) => ({
    messages: [...readSystem(request['system']), ...itemsOf(request['messages']).flatMap(readBlocks)],
    choices: [readMessage(response)],
  }),
}

/** A function as chats have it. Responses have its members in the tool, and Anthropic's protocol names them otherwise. */
function readTool(tool: unknown): unknown {
  if (!isItem(tool) || isItem(tool['function']) || typeof tool['name'] !== 'string') return tool
  const { name, description, parameters, input_schema: schema = parameters, strict } = tool
  return { type: 'function', function: { name, description, parameters: schema, strict } }
}

/** A prompt of ids has no text. */
function writePrompt(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt
  return Array.isArray(prompt) && typeof prompt[0] === 'string' ? prompt.join('\n') : ''
}

function readCompletion({ text, logprobs, ...choice }: Item): Item {
  const { tokens, token_logprobs: values } = isItem(logprobs) ? logprobs : {}
  const content = Array.isArray(tokens)
    ? tokens.map((token: unknown, at) => ({ token, logprob: pick(values, at) }))
    : null
  return { ...choice, message: { role: 'assistant', content: text }, logprobs: content && { content } }
}

function pick(list: unknown, at: number): unknown {
  return Array.isArray(list) ? (list as unknown[])[at] : undefined
}

function readSystem(text: unknown): Item[] {
  return text === undefined || text === null ? [] : [{ role: 'system', content: text }]
}

/**
 * The input of a response is a text or a list of items: messages, calls, their results and thoughts. The items that an
 * earlier response had become one message, as in a chat.
 */
function readInput(input: unknown): Item[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const runs: Item[][] = []
  for (const item of itemsOf(input)) {
    const last = runs.at(-1)
    if (last && isOutput(item) && isOutput(last[0]!)) last.push(item)
    else runs.push([item])
  }
  return runs.map((run) => {
    const first = run[0]!
    if (isOutput(first)) return readOutput(run)
    const isResult = first['type'] === 'function_call_output'
    if (isResult) return { role: 'tool', tool_call_id: first['call_id'], content: readParts(first['output']) }
    return first['role'] === undefined ? first : { role: first['role'], content: readParts(first['content']) }
  })
}

function readParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return itemsOf(content).map((part) => (part['type'] === 'input_text' ? { type: 'text', text: part['text'] } : part))
}

const isOutput = ({ type, role }: Item) => type === 'function_call' || type === 'reasoning' || role === 'assistant'

function readOutput(output: Item[]): Item {
  const [calls, thoughts] = ['function_call', 'reasoning'].map((type) => output.filter((item) => item['type'] === type))
  return {
    role: 'assistant',
    content: output
      .filter(({ type }) => type !== 'function_call' && type !== 'reasoning')
      .map(writeTexts)
      .join(''),
    ...(calls!.length > 0 && { tool_calls: calls!.map(readCall) }),
    ...(thoughts!.length > 0 && { reasoning: thoughts!.map(writeTexts).join('\n') }),
  }
}

function readResponse(response: Item): Item {
  return {
    finish_reason: response['status'] === 'incomplete' ? 'length' : 'stop',
    message: readOutput(itemsOf(response['output'])),
    ...readGenerations(itemsOf(response['token_generations'])),
  }
}

/** The ids that were sampled, and their log-probabilities if those of all are known. */
function readGenerations(generations: Item[]): Item {
  if (generations.length === 0) return {}
  const ids = generations.flatMap(({ token_ids: given, output_tokens: tokens }) =>
    Array.isArray(given) ? (given as unknown[]) : itemsOf(tokens).map((token) => token['token_id']),
  )
  const tokens = generations.flatMap(({ compact_logprobs: compact, output_tokens: given }) =>
    Array.isArray(compact) ? compact.map((logprob: unknown) => ({ logprob })) : itemsOf(given),
  )
  const isComplete = tokens.length === ids.length && tokens.every(({ logprob }) => typeof logprob === 'number')
  return { token_ids: ids, ...(isComplete && { logprobs: { content: tokens.map(readToken) } }) }
}

const readToken = ({ token, logprob }: Item) => ({ token: readName(token), logprob })

function readCall(item: Item): Item {
  return { id: item['call_id'], type: 'function', function: { name: item['name'], arguments: item['arguments'] } }
}

function writeTexts({ content, summary }: Item): string {
  if (typeof content === 'string') return content
  const parts = [content, summary].flatMap(itemsOf)
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('')
}

function readMessage(response: Item): Item {
  const { stop_reason: reason, token_ids, logprobs, compact_logprobs: compact } = response
  const values = [compact, logprobs].find((list) => Array.isArray(list))
  return {
    finish_reason: reason === 'max_tokens' ? 'length' : reason,
    message: readBlocks({ role: 'assistant', content: response['content'] }).at(-1),
    ...(token_ids !== undefined && { token_ids }),
    ...(values && { logprobs: { content: values.map((logprob: unknown) => readToken({ logprob })) } }),
  }
}

/** A message of Anthropic's protocol: results of tools become messages of their own, uses of tools calls. */
function readBlocks(message: Item): Item[] {
  if (!Array.isArray(message['content'])) return [message]
  const blocks = itemsOf(message['content'])
  const ofType = (type: string) => blocks.filter((block) => block['type'] === type)
  const results = ofType('tool_result').map((block) => ({
    role: 'tool',
    tool_call_id: block['tool_use_id'],
    content: block['content'],
  }))
  const thoughts = ofType('thinking').map(({ thinking }) => thinking)
  const calls = ofType('tool_use').map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const content = blocks.filter(({ type }) => !['tool_result', 'thinking', 'tool_use'].includes(String(type)))
  if (results.length > 0 && content.length === 0) return results
  const rest = { ...message, content, ...(calls.length > 0 && { tool_calls: calls }) }
  return [...results, thoughts.length > 0 ? { ...rest, reasoning: thoughts.join('\n') } : rest]
}
