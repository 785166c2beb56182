import { createHash } from 'node:crypto'
import { createRandom, type Random } from './random.ts'

/** A finished call of an LLM application, as SDKs send it to calls/complete. */
export interface BenchCall {
  project_id: string
  id: string
  op_name: string
  display_name: string | null
  trace_id: string
  parent_id: string | null
  thread_id: string | null
  turn_id: string | null
  started_at: string
  ended_at: string
  attributes: Record<string, unknown>
  inputs: Record<string, unknown>
  output: unknown
  exception: string | null
  summary: Record<string, unknown>
}

export interface CallSource {
  projectId: string
  /** Returns the next calls, in the order of their times. */
  take: (count: number) => BenchCall[]
}

const opKinds = ['answer_question', 'retrieve_passages', 'openai.chat.completions.create', 'rank_passages', 'judge']
const versionsPerOp = 5
const models = ['gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'Qwen/Qwen3-4B-Instruct-2507']
const environments = ['production', 'staging', 'development']
const customers = 1_000
const systemPrompt =
  'You are a support assistant for a shop that sells bicycles. Answer only from the passages below.\nIf they do not say it, say "I do not know".'
// One of this many calls fails.
const failureEvery = 50
const maxTraceLength = 6
const words =
  'the a of to and in is that for it with as was on be by this have from or had not are but what were when we there can an your which their if will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know café naïve “quoted” größer'.split(
    ' ',
  )

/**
 * Creates calls of about 1.7 KB as JSON, in traces of one to six calls. The same seed creates the same calls. The first
 * starts at `startMs`, and each next one starts a millisecond or two later.
 */
export function createCalls(projectId: string, seed: number, { startMs = Date.now(), stepMs = 1 } = {}): CallSource {
  const random = createRandom(seed)
  const text = writeText(random, 200_000)
  let timeMs = startMs
  let trace: { id: string; root: string; left: number } | undefined
  const next = (): BenchCall => {
    timeMs += stepMs
    const id = uuid(random, timeMs)
    const parent = trace
    trace ??= { id: uuid(random, timeMs), root: id, left: random.below(maxTraceLength) }
    const call = makeCall(
      { projectId, random, text },
      { id, timeMs, traceId: trace.id, parentId: parent?.root ?? null },
    )
    trace = trace.left > 0 ? { ...trace, left: trace.left - 1 } : undefined
    return call
  }
  return { projectId, take: (count) => Array.from({ length: count }, next) }
}

interface Material {
  projectId: string
  random: Random
  text: string
}

function makeCall(
  { projectId, random, text }: Material,
  { id, timeMs, traceId, parentId }: { id: string; timeMs: number; traceId: string; parentId: string | null },
): BenchCall {
  const model = models[random.below(models.length)]!
  const [question, answer] = [slice(text, random, 260), slice(text, random, 170)]
  const usage = { prompt_tokens: Math.ceil(question.length / 4), completion_tokens: Math.ceil(answer.length / 4) }
  const failed = random.below(failureEvery) === 0
  return {
    project_id: projectId,
    id,
    op_name: opRef(projectId, opKinds[random.below(opKinds.length)]!, random.below(versionsPerOp)),
    display_name: null,
    trace_id: traceId,
    parent_id: parentId,
    thread_id: null,
    turn_id: null,
    started_at: new Date(timeMs).toISOString(),
    ended_at: new Date(timeMs + 200 + random.below(3_000)).toISOString(),
    attributes: {
      weave: { client_version: '0.54.0', source: 'python-sdk', sys_version: '3.12.4', os_name: 'Linux' },
      environment: environments[random.below(environments.length)],
      customer: `customer-${random.below(customers)}`,
    },
    inputs: {
      model,
      messages: [
        { role: 'system', content: systemPrompt },
        { role: 'user', content: question },
      ],
      temperature: random.below(10) / 10,
      max_tokens: 512,
    },
    output: failed ? null : makeCompletion({ id, model, answer, usage, timeMs }),
    exception: failed ? `RateLimitError: ${answer.slice(0, 80)}` : null,
    summary: {
      usage: { [model]: { requests: 1, ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } },
      status_counts: { success: failed ? 0 : 1, error: failed ? 1 : 0 },
    },
  }
}

interface Completion {
  id: string
  model: string
  answer: string
  usage: { prompt_tokens: number; completion_tokens: number }
  timeMs: number
}

function makeCompletion({ id, model, answer, usage, timeMs }: Completion): object {
  return {
    id: `chatcmpl-${id.replaceAll('-', '').slice(-29)}`,
    object: 'chat.completion',
    created: Math.floor(timeMs / 1000),
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: answer, refusal: null }, finish_reason: 'stop' }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  }
}

/** The reference of an op's version, as SDKs write it. */
export function opRef(projectId: string, name: string, version: number): string {
  const digest = createHash('sha256').update(`${name}:${version}`).digest('base64url').replaceAll(/[-_]/g, 'X')
  return `weave:///${projectId}/op/${name}:${digest}`
}

/** A UUIDv7 of a time. */
function uuid(random: Random, timeMs: number): string {
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  const time = timeMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${(8 + random.below(4)).toString(16)}${hex(3)}-${hex(6)}${hex(6)}`
}

function writeText(random: Random, length: number): string {
  let text = ''
  while (text.length < length) text += `${words[random.below(words.length)]}${random.below(12) === 0 ? '.\n' : ' '}`
  return text
}

/** Returns about this many characters: mostly fewer, sometimes several times as many. */
function slice(text: string, random: Random, mean: number): string {
  const length = Math.ceil(mean * Math.min(6, Math.exp(random.normal() * 0.6 - 0.18)))
  const start = random.below(text.length - length)
  return text.slice(start, start + length)
}
