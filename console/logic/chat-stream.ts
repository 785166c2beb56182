import { readTokens, type Token, type ToolCall, type Turn } from './chat.ts'

/** An answer as it arrives. */
export interface PartialAnswer {
  text: string
  reasoning: string
  /** The members `content` of the log-probabilities so far. */
  logprobs: object[]
  toolCalls: ToolCall[]
  finish: string | undefined
  usage: { prompt: number; completion: number } | undefined
}

export const noAnswer: PartialAnswer = {
  text: '',
  reasoning: '',
  logprobs: [],
  toolCalls: [],
  finish: undefined,
  usage: undefined,
}

/** An error that comes in a stream, after its status. */
export class StreamError extends Error {}

/** Splits a stream of server-sent events into the texts of their data. A part of an event waits for the rest. */
export function createEventReader(): (text: string) => string[] {
  let rest = ''
  return (text) => {
    const events = (rest + text).split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    return events.flatMap((event) => {
      const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')]
    })
  }
}

interface Chunk {
  error?: { message?: string }
  choices?: {
    delta?: {
      content?: string | null
      reasoning_content?: string | null
      reasoning?: string | null
      tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[]
    }
    logprobs?: { content?: object[] | null } | null
    finish_reason?: string | null
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number } | null
}

/** Adds an event of a stream of a chat to the answer. @throws {StreamError} for an event that is an error */
export function addChunk(answer: PartialAnswer, data: string): PartialAnswer {
  if (data === '[DONE]') return answer
  const { error, choices, usage } = JSON.parse(data) as Chunk
  if (error) throw new StreamError(error.message ?? 'The stream ended with an error.')
  const counted = usage ? { prompt: usage.prompt_tokens, completion: usage.completion_tokens } : answer.usage
  const [choice] = choices ?? []
  if (!choice) return { ...answer, usage: counted }
  const { delta = {}, logprobs, finish_reason } = choice
  return {
    text: answer.text + (delta.content ?? ''),
    reasoning: answer.reasoning + (delta.reasoning_content ?? delta.reasoning ?? ''),
    logprobs: logprobs?.content ? [...answer.logprobs, ...logprobs.content] : answer.logprobs,
    toolCalls: (delta.tool_calls ?? []).reduce(addToolCall, answer.toolCalls),
    finish: finish_reason ?? answer.finish,
    usage: counted,
  }
}

function addToolCall(
  calls: ToolCall[],
  { index = 0, function: part = {} }: { index?: number; function?: { name?: string; arguments?: string } },
): ToolCall[] {
  const known = calls[index] ?? { name: '', arguments: '' }
  const joined = { name: known.name + (part.name ?? ''), arguments: known.arguments + (part.arguments ?? '') }
  return calls.toSpliced(index, 1, joined)
}

/** The answer as a turn of a conversation. The tokens of one with reasoning are not only those of its text. */
export function presentAnswer({ text, reasoning, logprobs, toolCalls, finish }: PartialAnswer): Turn {
  const tokens: Token[] | undefined = reasoning === '' ? readTokens({ content: logprobs }) : undefined
  return { role: 'assistant', text, reasoning, toolCalls, tokens, finish, isSampled: true }
}

/** The mean log-probability of an answer's tokens. Undefined if none is known. */
export function meanLogprob({ logprobs }: PartialAnswer): number | undefined {
  const values = logprobs.flatMap((token) =>
    'logprob' in token && typeof token.logprob === 'number' ? [token.logprob] : [],
  )
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
}
