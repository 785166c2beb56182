/** What all panes of the playground send. */
export interface ChatSettings {
  system: string
  temperature: number | undefined
  maxTokens: number | undefined
  seed: number | undefined
}

/** A message of a chat, as the API takes it. Messages of trajectories may have more members. */
export type Message = Readonly<Record<string, unknown>>

/** A pane compares at most this many models. */
export const maxPanes = 4
// A longer prompt makes an address that not every program takes.
const maxPromptInAddress = 2_000

/** The model and the version of a name that chats use. */
export function splitModelName(name: string): { model: string; version: string } {
  const at = name.indexOf(':', name.lastIndexOf('/') + 1)
  return at === -1 ? { model: name, version: 'latest' } : { model: name.slice(0, at), version: name.slice(at + 1) }
}

/** The name of a version. The newest one needs none. */
export function joinModelName(model: string, version: string): string {
  return version === 'latest' ? model : `${model}:${version}`
}

/** A name without the parts that all names of a project share. */
export function shortenModelName(name: string, scope: { entity: string; project: string }): string {
  const prefix = `${scope.entity}/${scope.project}/`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** The text of a number field. Undefined if it is none in these bounds. */
export function readNumber(text: string | undefined, low: number, high: number): number | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const value = Number(text)
  return value >= low && value <= high ? value : undefined
}

/** The prompt as its address has it. */
export function writePrompt(prompt: string): string | undefined {
  return prompt === '' || prompt.length > maxPromptInAddress ? undefined : prompt
}

/** The messages of a chat: the system prompt first, unless the conversation has one. */
export function joinMessages(system: string, conversation: readonly Message[]): Message[] {
  const hasSystem = conversation.some(({ role }) => role === 'system' || role === 'developer')
  return system === '' || hasSystem ? [...conversation] : [{ role: 'system', content: system }, ...conversation]
}

/** The body of the request for an answer, without what a stream needs. */
export function writeChatBody(model: string, messages: readonly Message[], settings: ChatSettings) {
  const { temperature, maxTokens, seed } = settings
  return {
    model,
    messages,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(seed !== undefined && { seed }),
  }
}

/**
 * The messages of a trajectory before its turn `turn`, as a chat takes them. A sampled answer is the message in it.
 */
export function takeMessages(items: unknown, turn: number): Message[] {
  if (!Array.isArray(items)) return []
  return items.slice(0, turn).flatMap((item: unknown): Message[] => {
    const message = isObject(item) && isObject(item['message']) ? item['message'] : item
    return isObject(message) && typeof message['role'] === 'string' ? [keepMembers(message)] : []
  })
}

/** The turn of a trajectory that is sampled again if none is named: its last answer. */
export function findLastAnswer(items: unknown): number {
  if (!Array.isArray(items)) return 0
  const last = items.findLastIndex(
    (item: unknown) => isObject(item) && (isObject(item['message']) || item['role'] === 'assistant'),
  )
  return last === -1 ? items.length : last
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

// Clients store more with an answer than a chat accepts.
const messageMembers = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning_content']

function keepMembers(message: Record<string, unknown>): Message {
  return Object.fromEntries(
    messageMembers.flatMap((name) =>
      message[name] === undefined || message[name] === null ? [] : [[name, message[name]]],
    ),
  )
}
