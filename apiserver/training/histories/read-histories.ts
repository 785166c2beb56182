import { isItem, readExchanges, type Exchange, type Item } from './read-exchange.ts'

/** A conversation of a trajectory: messages and sampled Choices. */
export interface History {
  messages_and_choices: Item[]
  tools: unknown
}

// Equal texts can have been sampled as different tokens. Of so many histories with one text, the newest are tried.
const maxCandidates = 8

/** A place in the tree of all conversations: the histories that end here, and what follows, by its message. */
interface Place {
  ends: CapturedHistory[]
  next: Map<string, Place>
}

interface CapturedHistory extends History {
  /** The ids of the last prompt and of its answer, if both are known. */
  ids: unknown[] | undefined
}

/** The conversations of a trajectory, as people read them, whether its client wrote or captured them. */
export function readHistories(trajectory: Item): History[] {
  const { exchanges, messages_and_choices: items, tools, additional_histories: others } = trajectory
  if (isCaptured(trajectory)) return joinExchanges(readExchanges(exchanges))
  return [{ messages_and_choices: items, tools }, ...(Array.isArray(others) ? others : [])].map((history) => ({
    messages_and_choices: (Array.isArray(history.messages_and_choices) ? history.messages_and_choices : []) as Item[],
    tools: history.tools as unknown,
  }))
}

/** Whether a trajectory has captured exchanges. */
export function isCaptured({ exchanges }: Item): boolean {
  return isItem(exchanges) && Object.values(exchanges).some((list) => Array.isArray(list) && list.length > 0)
}

/**
 * Joins exchanges to histories, as training does: one whose prompt extends an earlier history, in its messages and its
 * ids, continues it. Any other begins a new history, with its whole prompt.
 */
function joinExchanges(exchanges: Exchange[]): History[] {
  const histories: CapturedHistory[] = []
  const roots = new Map<string, Place>()
  for (const exchange of exchanges) {
    const root = getOrMake(roots, JSON.stringify(exchange.tools) ?? '')
    const path = walk(root, exchange.messages)
    const earlier = findExtended(path, exchange)
    for (const choice of exchange.choices) {
      const shared = earlier && { from: earlier.history, messages: exchange.messages.slice(earlier.length) }
      const history = addChoice(shared, exchange, choice)
      if (earlier && choice === exchange.choices[0]) histories[histories.indexOf(earlier.history)] = history
      else histories.push(history)
      walk(path.at(-1)!, [isItem(choice['message']) ? choice['message'] : {}])
        .at(-1)!
        .ends.push(history)
    }
  }
  return histories.map(({ messages_and_choices, tools }) => ({ messages_and_choices, tools }))
}

function addChoice(
  shared: { from: CapturedHistory; messages: Item[] } | undefined,
  { messages, tools, promptIds }: Exchange,
  choice: Item,
): CapturedHistory {
  const before = shared ? [...shared.from.messages_and_choices, ...shared.messages] : messages
  const { token_ids: sampled, prompt_token_ids: prompt = promptIds } = choice
  const ids =
    Array.isArray(prompt) && Array.isArray(sampled) ? [...(prompt as unknown[]), ...(sampled as unknown[])] : undefined
  return { messages_and_choices: [...before, choice], tools, ids }
}

/** The longest history that the exchange extends. */
function findExtended(path: Place[], { promptIds }: Exchange) {
  for (let length = path.length - 1; length > 0; length--) {
    const candidates = path[length]!.ends.slice(-maxCandidates)
    const history = candidates.findLast(({ ids }) => isPrefix(ids, promptIds))
    if (history) return { history, length }
  }
  return undefined
}

/** Ids that are not known contradict nothing. */
function isPrefix(ids: unknown[] | undefined, promptIds: unknown): boolean {
  if (!ids || !Array.isArray(promptIds)) return true
  return ids.length <= promptIds.length && ids.every((id, index) => id === promptIds[index])
}

/** The place itself, and that after each message. */
function walk(from: Place, messages: Item[]): Place[] {
  const path = [from]
  for (const message of messages) path.push(getOrMake(path.at(-1)!.next, writeNormalised(message)))
  return path
}

function getOrMake(places: Map<string, Place>, key: string): Place {
  const place = places.get(key) ?? { ends: [], next: new Map<string, Place>() }
  places.set(key, place)
  return place
}

/** Clients send an answer back with other members that say the same. */
function writeNormalised(message: Item): string {
  const { role, content, tool_calls: calls, tool_call_id: callId, reasoning_content: thought } = message
  const said = role === 'assistant' ? (content ?? '') : content
  const called = Array.isArray(calls) && calls.length > 0 ? calls : undefined
  return JSON.stringify([role, said, called, callId, message['reasoning'] ?? thought ?? null])
}
