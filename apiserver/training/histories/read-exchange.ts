// Reads an exchange that a client captured: a request to a model and its answer, in one of four protocols. All become
// messages and Choices, as clients write them in `messages_and_choices`.

export type Item = Record<string, unknown>

/** The protocols, by their member of `exchanges`. */
export const exchangeKinds = ['chat_completions', 'completions', 'responses', 'messages'] as const
type ExchangeKind = (typeof exchangeKinds)[number]

/** What was asked, and each answer to it. */
export interface Exchange {
  startedAt: string
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
    .sort((a, b) => (a.startedAt < b.startedAt ? -1 : Number(a.startedAt > b.startedAt)))
}

function readExchange(kind: ExchangeKind, exchange: Item): Exchange {
  const request = isItem(exchange['request']) ? exchange['request'] : {}
  const response = isItem(exchange['response']) ? exchange['response'] : {}
  return {
    startedAt: typeof exchange['start_time'] === 'string' ? exchange['start_time'] : '',
    tools: request['tools'],
    promptIds: response['prompt_token_ids'] ?? itemsOf(response['choices'])[0]?.['prompt_token_ids'],
    ...readers[kind](request, response),
  }
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

/** The input of a response is a text or a list of items: messages, calls, their results and thoughts. */
function readInput(input: unknown): Item[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return itemsOf(input).map((item) => {
    if (item['type'] === 'function_call_output')
      return { role: 'tool', tool_call_id: item['call_id'], content: item['output'] }
    if (item['type'] === 'function_call') return { role: 'assistant', content: null, tool_calls: [readCall(item)] }
    return item['type'] === 'reasoning' ? { role: 'assistant', reasoning: writeTexts(item) } : item
  })
}

function readResponse(response: Item): Item {
  const output = itemsOf(response['output'])
  const ofType = (type: string) => output.filter((item) => item['type'] === type)
  const message: Item = { role: 'assistant', content: ofType('message').map(writeTexts).join('') }
  const [calls, thoughts] = [ofType('function_call'), ofType('reasoning')]
  if (calls.length > 0) message['tool_calls'] = calls.map(readCall)
  if (thoughts.length > 0) message['reasoning'] = thoughts.map(writeTexts).join('\n')
  const generations = itemsOf(response['token_generations'])
  return {
    finish_reason: response['status'] === 'incomplete' ? 'length' : 'stop',
    message,
    ...(generations.length > 0 && {
      token_ids: generations.flatMap(({ token_ids: ids, output_tokens: tokens }) =>
        Array.isArray(ids) ? (ids as unknown[]) : itemsOf(tokens).map((token) => token['token_id']),
      ),
    }),
  }
}

function readCall(item: Item): Item {
  return { id: item['call_id'], type: 'function', function: { name: item['name'], arguments: item['arguments'] } }
}

function writeTexts(item: Item): string {
  const parts = [item['content'], item['summary']].flatMap(itemsOf)
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('')
}

function readMessage(response: Item): Item {
  const { stop_reason: reason, token_ids, logprobs } = response
  const values = Array.isArray(logprobs) ? logprobs : undefined
  return {
    finish_reason: reason === 'max_tokens' ? 'length' : reason,
    message: readBlocks({ role: 'assistant', content: response['content'] }).at(-1),
    ...(token_ids !== undefined && { token_ids }),
    ...(values && { logprobs: { content: values.map((logprob: unknown) => ({ token: '', logprob })) } }),
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
