import { isItem, readExchanges, type Exchange, type Item } from './read-exchange.ts'

/** A conversation of a trajectory: messages and sampled Choices. */
export interface History {
  messages_and_choices: Item[]
  tools: unknown
}

// Equal texts can have been sampled as different tokens. Of so many histories with one text, the newest are tried.
const maxCandidates = 8
// The prompt of an exchange is repeated for each of its choices. A long conversation has some thousand items.
const maxItems = 200_000
const scheme = 'wandb-artifact:///'

/** A node in the tree of all conversations: the histories that end here, and what follows, by its message. */
interface TrieNode {
  ends: CapturedHistory[]
  next: Map<string, TrieNode>
}

interface CapturedHistory extends History {
  /** The ids of the last prompt, and those of its answer, if they are known. */
  ids: { prompt: unknown; sampled: unknown }
}

/** The name of a model as exchanges have it, without a step. */
export function nameModel({ entity, project, name }: { entity: string; project: string; name: string }): string {
  return `${entity}/${project}/${name}`
}

/**
 * The conversations of a trajectory, as people read them, whether its client wrote or captured them. Of captured
 * exchanges, those with the model are read, at any of its steps: others are not trained.
 */
export function readHistories(trajectory: Item, model: string): History[] {
  const { exchanges, messages_and_choices: items, tools, additional_histories: others } = trajectory
  if (isCaptured(trajectory)) return joinExchanges(readExchanges(exchanges).filter((each) => isOfModel(each, model)))
  return [{ messages_and_choices: items, tools }, ...(Array.isArray(others) ? others : [])].map((history) => ({
    messages_and_choices: (Array.isArray(history.messages_and_choices) ? history.messages_and_choices : []) as Item[],
    tools: history.tools as unknown,
  }))
}

/** Whether a trajectory has captured exchanges. */
export function isCaptured({ exchanges }: Item): boolean {
  return isItem(exchanges) && Object.values(exchanges).some((list) => Array.isArray(list) && list.length > 0)
}

function isOfModel({ model: asked }: Exchange, model: string): boolean {
  return (asked.startsWith(scheme) ? asked.slice(scheme.length) : asked).split(':', 1)[0] === model
}

/**
 * Joins exchanges to histories, as training does. An answer whose prompt extends a history, in its messages and its ids,
 * continues that one. Any other answer begins a history, with its whole prompt. So each answer is in one history.
 */
function joinExchanges(exchanges: Exchange[]): History[] {
  const histories: CapturedHistory[] = []
  const roots = new Map<string, TrieNode>()
  let left = maxItems
  for (const { messages, choices, tools, promptIds } of exchanges) {
    const path = walk(getOrMake(roots, JSON.stringify(tools) ?? ''), messages)
    for (const choice of choices) {
      const earlier = takeExtended(path, promptIds)
      const more = earlier ? messages.slice(earlier.length) : messages
      left -= more.length + 1
      if (left < 0) return histories.map(presentHistory)
      const history = earlier?.history ?? { messages_and_choices: [], tools, ids: {} as CapturedHistory['ids'] }
      if (!earlier) histories.push(history)
      for (const item of [...more, choice]) history.messages_and_choices.push(item)
      history.ids = { prompt: choice['prompt_token_ids'] ?? promptIds, sampled: choice['token_ids'] }
      walk(path.at(-1)!, [isItem(choice['message']) ? choice['message'] : {}])
        .at(-1)!
        .ends.push(history)
    }
  }
  return histories.map(presentHistory)
}

function presentHistory({ messages_and_choices, tools }: CapturedHistory): History {
  return { messages_and_choices, tools }
}

/** The longest history that a prompt extends. It no longer ends where it did. */
function takeExtended(path: TrieNode[], promptIds: unknown) {
  for (let length = path.length - 1; length > 0; length--) {
    const { ends } = path[length]!
    const history = ends.slice(-maxCandidates).findLast(({ ids }) => isPrefix(ids, promptIds))
    if (!history) continue
    ends.splice(ends.lastIndexOf(history), 1)
    return { history, length }
  }
  return undefined
}

/** Ids that are not known contradict nothing. */
function isPrefix({ prompt, sampled }: CapturedHistory['ids'], promptIds: unknown): boolean {
  if (!Array.isArray(prompt) || !Array.isArray(sampled) || !Array.isArray(promptIds)) return true
  const end = prompt.length + sampled.length
  if (end > promptIds.length) return false
  return (
    prompt.every((id, index) => id === promptIds[index]) &&
    sampled.every((id, index) => id === promptIds[prompt.length + index])
  )
}

/** The node itself, and that after each message. */
function walk(from: TrieNode, messages: Item[]): TrieNode[] {
  const path = [from]
  for (const message of messages) path.push(getOrMake(path.at(-1)!.next, writeNormalised(message)))
  return path
}

function getOrMake(nodes: Map<string, TrieNode>, key: string): TrieNode {
  const node = nodes.get(key) ?? { ends: [], next: new Map<string, TrieNode>() }
  nodes.set(key, node)
  return node
}

/** Clients send an answer back with other members that say the same. */
function writeNormalised(message: Item): string {
  const { role, content, tool_calls: calls, tool_call_id: callId, reasoning_content: thought } = message
  const said = role === 'assistant' ? (content ?? '') : content
  const called = Array.isArray(calls) && calls.length > 0 ? calls : undefined
  return JSON.stringify([role, said, called, callId, message['reasoning'] ?? thought ?? null])
}
