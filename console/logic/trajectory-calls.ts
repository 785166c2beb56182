import { noFilters, writeRequest, type CallsRequest } from './call-query.ts'
import { isObject, readRef, type Call } from './calls.ts'
import { splitModelName } from './playground.ts'

// A trajectory and the traced chats that it was made of know nothing of each other, unless the client has written it into
// the metadata. But an answer is in both, with the ids of its tool calls and the log-probabilities of its tokens.

/** A sampled answer of a trajectory. */
export interface Answer {
  /** Its index in the conversation. */
  turn: number
  text: string
  toolCallIds: string[]
  logprobs: number[]
}

/** What a client names in the metadata of a trajectory: a call, or a whole trace. */
export interface NamedCall {
  kind: 'call' | 'trace'
  entity: string
  project: string
  id: string
}

const isText = (value: unknown): value is string => typeof value === 'string'
const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})
const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** The answers of a trajectory that were sampled. */
export function listAnswers(items: unknown): Answer[] {
  return itemsOf(items).flatMap((item, turn) => {
    const answer = readChoice(item)
    return answer ? [{ turn, ...answer }] : []
  })
}

function readChoice(choice: unknown): Omit<Answer, 'turn'> | undefined {
  const { message, logprobs } = membersOf(choice)
  if (!isObject(message)) return undefined
  const { content, tool_calls: toolCalls } = message
  return {
    text: isText(content) ? content : '',
    toolCallIds: itemsOf(toolCalls)
      .map((each) => membersOf(each)['id'])
      .filter(isText),
    logprobs: itemsOf(membersOf(logprobs)['content']).map((token) => Number(membersOf(token)['logprob'])),
  }
}

const kinds: Readonly<Record<string, NamedCall['kind']>> = {
  call_id: 'call',
  weave_call_id: 'call',
  trace_id: 'trace',
  weave_trace_id: 'trace',
}
const maxNamed = 20

/** The calls that the metadata of a trajectory names: by a reference, or by an id under the usual names. */
export function listNamedCalls(metadata: unknown, own: { entity: string; project: string }): NamedCall[] {
  const named = Object.entries(membersOf(metadata)).flatMap(([name, value]): NamedCall[] => {
    if (!isText(value)) return []
    const ref = readRef(value)
    if (ref?.kind === 'call') return [{ kind: 'call', entity: ref.entity, project: ref.project, id: ref.name }]
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    return kind && /^[\w-]{1,256}$/.test(value) ? [{ kind, ...own, id: value }] : []
  })
  return named.slice(0, maxNamed)
}

// What weave and the gateway call a chat.
const chatOp = 'openai.chat.completions.create'
// A rollout is trained on soon. Only calls of this time before it are searched.
const searchedMs = 24 * 3_600_000
// The clocks of client and server differ.
const clockMs = 60_000
const maxAnswers = 8
const maxTextLength = 20_000
// A request with `n` has as many choices.
const choiceIndices = [0, 1, 2, 3]

const equals = (name: string, value: string | number) => ({ $eq: [{ $getField: name }, { $literal: value }] })

/** How like an answer a chat is: its tokens have the same log-probabilities too, or it says the same. */
export type Likeness = 'exact' | 'same text'

/** What a choice of a chat has if it is an answer. Undefined if the answer has nothing of it to search by. */
function describeAnswer({ text, toolCallIds: [id], logprobs }: Answer, choice: string, likeness: Likeness): unknown {
  if (id !== undefined) return equals(`${choice}.message.tool_calls.0.id`, id)
  if (text === '' || text.length > maxTextLength) return undefined
  const says = equals(`${choice}.message.content`, text)
  if (likeness === 'same text') return says
  // A trained model says the same hundreds of times. The first and the last token tell these apart.
  const ends = [...new Set([0, logprobs.length - 1])].filter((index) => Number.isFinite(logprobs[index]))
  if (ends.length === 0) return undefined
  const tokens = ends.map((index) => equals(`${choice}.logprobs.content.${index}.logprob`, logprobs[index]!))
  return { $and: [says, ...tokens] }
}

/** A trajectory's answers, and where and before when their chats were traced. */
export interface AnswerSearch {
  answers: readonly Answer[]
  createdAt: string
  projectId: string
}

/** The request for the calls that may be the chats of answers. Undefined if there is nothing to search by. */
export function writeAnswersRequest(
  { answers, createdAt, projectId }: AnswerSearch,
  likeness: Likeness,
): CallsRequest | undefined {
  const searched = answers
    .map((answer) => choiceIndices.map((index) => describeAnswer(answer, `output.choices.${index}`, likeness)))
    .filter(([first]) => first !== undefined)
  if (searched.length === 0) return undefined
  const conditions = searched.slice(0, maxAnswers).flat()
  const time = Date.parse(createdAt)
  const from = new Date(time - searchedMs).toISOString()
  const to = new Date(time + clockMs).toISOString()
  return writeRequest({ ...noFilters, ops: [chatOp], from, to, others: [{ $or: conditions }] }, projectId)
}

/** A call whose output has an answer of a trajectory. */
export interface AnswerCall {
  turn: number
  call: Call
  /** Whether the log-probabilities of its tokens are the same too. No other chat has these. */
  isExact: boolean
}

/** The calls of each answer: those with the same log-probabilities, else those that say the same. */
export function matchCalls(answers: readonly Answer[], calls: readonly Call[]): AnswerCall[] {
  return answers.flatMap((answer) => {
    const found = calls.flatMap((call) => {
      const likeness = itemsOf(membersOf(call.output)['choices']).map((choice) => compare(answer, readChoice(choice)))
      if (!likeness.some((each) => each !== 'other')) return []
      return [{ turn: answer.turn, call, isExact: likeness.includes('exact') }]
    })
    const exact = found.filter(({ isExact }) => isExact)
    return exact.length > 0 ? exact : found
  })
}

function compare(a: Answer, b: Omit<Answer, 'turn'> | undefined): Likeness | 'other' {
  if (!b || a.text !== b.text || a.toolCallIds.join() !== b.toolCallIds.join()) return 'other'
  if (a.toolCallIds.length > 0) return 'exact'
  if (a.logprobs.length === 0 || b.logprobs.length === 0) return 'same text'
  const isSame = a.logprobs.length === b.logprobs.length && a.logprobs.every((value, at) => value === b.logprobs[at])
  return isSame ? 'exact' : 'other'
}

/** A traced chat with a run of this entity. */
export interface RunChat {
  project: string
  run: string
  /** The messages before the first answer. */
  prompt: unknown[]
  /** How the answer begins: as much as a search takes. */
  text: string
  startedAt: string
}

const minSearchLength = 2
const maxSearchLength = 200

/** Reads a call as a chat with a run. Undefined if it is something else, or has said too little to be found by. */
export function readRunChat({ inputs, output, started_at: startedAt }: Call, entity: string): RunChat | undefined {
  const { model, messages } = membersOf(inputs)
  const [answer] = itemsOf(membersOf(output)['choices']).map(readChoice)
  if (!isText(model) || !Array.isArray(messages) || !answer) return undefined
  const [owner, project, run, ...rest] = splitModelName(model.replace('wandb-artifact:///', '')).model.split('/')
  const text = answer.text.slice(0, maxSearchLength)
  if (owner !== entity || !project || !run || rest.length > 0 || text.trim().length < minSearchLength) return undefined
  const end = messages.findIndex((message) => membersOf(message)['role'] === 'assistant')
  return { project, run, prompt: end < 0 ? messages : messages.slice(0, end), text, startedAt }
}
