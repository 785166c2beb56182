/** A token that a model sampled. */
export interface Token {
  text: string
  logprob: number | undefined
}

export interface ToolCall {
  name: string
  arguments: string
}

/** One message of a conversation, whoever wrote it. */
export interface Turn {
  role: string
  text: string
  reasoning: string | undefined
  toolCalls: ToolCall[]
  /** The tokens of a sampled answer, if they are known. */
  tokens: Token[] | undefined
  /** Why a sampled answer ended. */
  finish: string | undefined
  isSampled: boolean
  /** The index of its history in a trajectory, after the first one. */
  history?: number
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * Reads the turns of a trajectory, or of the messages of a call. It accepts whatever clients store: an item that is no
 * message is shown as its JSON.
 */
export function readTurns(items: unknown): Turn[] {
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => (isObject(item) ? readTurn(item) : plainTurn('unknown', writeJson(item))))
}

function readTurn(item: Record<string, unknown>): Turn {
  const isSampled = isObject(item['message'])
  const message = (isSampled ? item['message'] : item) as Record<string, unknown>
  const known = 'content' in message || 'tool_calls' in message
  return {
    role: textOf(message['role']) ?? (isSampled ? 'assistant' : 'unknown'),
    text: known ? readContent(message['content']) : writeJson(message),
    reasoning: textOf(message['reasoning_content']) ?? textOf(message['reasoning']),
    toolCalls: readToolCalls(message['tool_calls']),
    tokens: isSampled ? readTokens(item['logprobs']) : undefined,
    finish: textOf(item['finish_reason']),
    isSampled,
  }
}

function plainTurn(role: string, text: string): Turn {
  return { role, text, reasoning: undefined, toolCalls: [], tokens: undefined, finish: undefined, isSampled: false }
}

function readContent(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return writeJson(content)
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : writeJson(part)))
    .join('\n')
}

function readToolCalls(calls: unknown): ToolCall[] {
  if (!Array.isArray(calls)) return []
  return calls.flatMap((call: unknown) => {
    const called = isObject(call) && isObject(call['function']) ? call['function'] : undefined
    if (!called) return []
    return [{ name: textOf(called['name']) ?? '', arguments: indentJson(called['arguments']) }]
  })
}

function indentJson(value: unknown): string {
  if (typeof value !== 'string') return writeJson(value)
  try {
    return writeJson(JSON.parse(value))
  } catch {
    return value
  }
}

function writeJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined'
}

const decoder = new TextDecoder()

/** The tokens of an answer with their log-probabilities. */
export function readTokens(logprobs: unknown): Token[] | undefined {
  const content = isObject(logprobs) ? logprobs['content'] : undefined
  if (!Array.isArray(content) || content.length === 0) return undefined
  const tokens = joinCharacters(
    content.filter(isObject).map((token) => ({
      bytes: Array.isArray(token['bytes']) ? (token['bytes'] as number[]) : undefined,
      text: textOf(token['token']) ?? '',
      logprob: typeof token['logprob'] === 'number' ? token['logprob'] : undefined,
    })),
  )
  // Some protocols have log-probabilities without texts.
  return tokens.some(({ text }) => text !== '') ? tokens : undefined
}

/** Decodes the tokens' bytes. A character whose bytes are in several tokens is shown at the last of them. */
function joinCharacters(tokens: { bytes: number[] | undefined; text: string; logprob: number | undefined }[]): Token[] {
  let pending: number[] = []
  return tokens.map(({ bytes, text, logprob }) => {
    if (!bytes) return { text: text.startsWith('token_id:') ? '' : text, logprob }
    const all = [...pending, ...bytes]
    const complete = all.length - countIncomplete(all)
    pending = all.slice(complete)
    return { text: decoder.decode(new Uint8Array(all.slice(0, complete))), logprob }
  })
}

/** How many bytes at the end begin a character of UTF-8 that does not end. */
function countIncomplete(bytes: number[]): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back)!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

// Characters that change how others look, or that nobody sees: controls, directions, joiners, tags.
// oxlint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** Makes characters visible that could hide or reorder text. */
export function revealHidden(text: string): string {
  return text.replace(hidden, (character) => `⟨${character.codePointAt(0)!.toString(16).padStart(4, '0')}⟩`)
}
