import type { ThreadFunction } from '../../../../lib/worker-threads/program.ts'
import { parseText } from '../../../../lib/json/parse-text.ts'
import { readHistories } from '../../../histories/read-histories.ts'

/** Stored trajectories as bytes, and the text that is searched in them. */
export interface TextTask {
  payloads: Uint8Array[]
  /** The name of their model. */
  model: string
  text: string
}

/** A match of the text. */
export interface Match {
  /** The index in the messages and choices of all its histories, one after the other. */
  turn: number
  role: string
  before: string
  text: string
  after: string
}

type Item = Record<string, unknown>

const maxMatches = 3
const aroundCharacters = 60

/** The first matches of a text in each trajectory. Upper and lower case are equal. */
export function findText({ payloads, model, text }: TextTask): Match[][] {
  const pattern = new RegExp(text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, '\\$&'), 'giu')
  return payloads.map((payload) => listMatches(parseText(Buffer.from(payload).toString()) as Item, model, pattern))
}

function listMatches(trajectory: Item, model: string, pattern: RegExp): Match[] {
  const items = readHistories(trajectory, model).flatMap((history) => history.messages_and_choices)
  const matches: Match[] = []
  for (const [turn, item] of items.entries()) {
    matches.push(...matchesOf(messageOf(item), turn, pattern))
    if (matches.length >= maxMatches) break
  }
  return matches.slice(0, maxMatches)
}

function matchesOf(message: Item, turn: number, pattern: RegExp): Match[] {
  const role = typeof message['role'] === 'string' ? message['role'] : ''
  return listTexts(message).flatMap((written) =>
    [...written.matchAll(pattern)].slice(0, maxMatches).map(({ index, 0: text }) => {
      const end = index + text.length
      const before = written.slice(Math.max(0, index - aroundCharacters), index).toWellFormed()
      return { turn, role, before, text, after: written.slice(end, end + aroundCharacters).toWellFormed() }
    }),
  )
}

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null

/** A Choice has its message inside. */
function messageOf(item: unknown): Item {
  if (!isItem(item)) return {}
  return isItem(item['message']) ? { role: 'assistant', ...item['message'] } : item
}

/** Everything that a message says. Log-probabilities and other names of tokens are not searched. */
function listTexts(message: Item): string[] {
  const { content, tool_calls: calls, reasoning_content: thought, reasoning = thought } = message
  const parts = Array.isArray(content)
    ? content.map((part: unknown) => (isItem(part) ? part['text'] : part))
    : [content]
  const called = Array.isArray(calls) ? calls.filter(isItem).map(({ function: named }) => named) : []
  const ofCalls = called.filter(isItem).flatMap(({ name, arguments: given }) => [name, given])
  return [reasoning, ...parts, ...ofCalls].filter((text) => typeof text === 'string')
}

export default { run: findText } satisfies ThreadFunction<TextTask, Match[][]>
