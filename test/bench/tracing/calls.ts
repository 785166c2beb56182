import { createHash, randomInt, randomUUID } from 'node:crypto'
import { encodeOtlp, toAttributes, type OtlpSpan } from '../../support/otlp.ts'

/** A finished call of an LLM application, as SDKs send it to calls/complete. */
export interface BenchCall {
  project_id: string
  id: string
  op_name: string
  trace_id: string
  parent_id: string | null
  started_at: string
  ended_at: string
  attributes: Record<string, unknown>
  inputs: Record<string, unknown>
  output: unknown
  exception: string | null
  summary: Record<string, unknown>
}

const ops = ['answer_question', 'retrieve_passages', 'openai.chat.completions.create', 'rank_passages', 'judge']
const model = 'Qwen/Qwen3-4B-Instruct-2507'
const system = 'You are a support assistant for a shop that sells bicycles. Answer only from the passages below.'
const words =
  'the of to and in is that for it with as was on be by this have from had not are but what were when we there can an your which their if will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people café naïve “quoted” größer'.split(
    ' ',
  )
const text = Array.from({ length: 40_000 }, () => words[randomInt(words.length)]).join(' ')
// One of this many calls fails.
const failureEvery = 50
const callsPerTrace = 4

/**
 * Makes calls of about 1.7 KB as JSON, four to a trace. The first starts at `startMs`, and each next one `stepMs` later.
 */
export function makeCalls(projectId: string, count: number, { startMs = Date.now(), stepMs = 1 } = {}): BenchCall[] {
  let root: BenchCall | undefined
  return Array.from({ length: count }, (_, index) => {
    const parent = index % callsPerTrace === 0 ? undefined : root
    const call = makeCall(projectId, startMs + index * stepMs, parent)
    root = parent ?? call
    return call
  })
}

function makeCall(projectId: string, timeMs: number, parent: BenchCall | undefined): BenchCall {
  const [question, answer] = [slice(260), slice(170)]
  const usage = { prompt_tokens: question.length >> 2, completion_tokens: answer.length >> 2, total_tokens: 100 }
  const failed = randomInt(failureEvery) === 0
  const message = { role: 'assistant', content: answer, refusal: null }
  const id = makeId(timeMs)
  return {
    project_id: projectId,
    id,
    op_name: nameOp(projectId, randomInt(ops.length), randomInt(5)),
    trace_id: parent?.trace_id ?? makeId(timeMs),
    parent_id: parent?.id ?? null,
    started_at: new Date(timeMs).toISOString(),
    ended_at: new Date(timeMs + 200 + randomInt(3_000)).toISOString(),
    attributes: {
      weave: { client_version: '0.54.0', source: 'python-sdk', sys_version: '3.12.4', os_name: 'Linux' },
      environment: 'production',
      customer: `customer-${randomInt(1_000)}`,
    },
    inputs: {
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: question },
      ],
      temperature: 0.7,
      max_tokens: 512,
    },
    output: failed ? null : { id, object: 'chat.completion', model, choices: [{ index: 0, message }], usage },
    exception: failed ? `RateLimitError: ${answer.slice(0, 80)}` : null,
    summary: { usage: { [model]: { requests: 1, ...usage } }, status_counts: { success: 1, error: 0 } },
  }
}

/** The reference of one of the 25 versions of ops that calls have, as SDKs write it. */
function nameOp(projectId: string, op: number, version: number): string {
  const digest = createHash('sha256').update(`${op}:${version}`).digest('hex').slice(0, 43)
  return `weave:///${projectId}/op/${ops[op]}:${digest}`
}

/** A UUIDv7 of a time. */
function makeId(timeMs: number): string {
  const time = timeMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** About this many characters: mostly fewer, sometimes several times as many. */
function slice(mean: number): string {
  const length = Math.ceil(mean * Math.min(6, -Math.log(1 - Math.random())))
  const start = randomInt(text.length - length)
  return text.slice(start, start + length)
}

/** The same calls as spans with the attributes of OpenInference, which are Phoenix's own. */
export function encodeSpans(calls: readonly BenchCall[]): Buffer {
  const attributes = toAttributes({ 'service.name': 'bench' })
  return encodeOtlp({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: calls.map(toSpan) }] }] })
}

function toSpan(call: BenchCall): OtlpSpan {
  return {
    traceId: call.trace_id.replaceAll('-', ''),
    spanId: nameSpan(call.id),
    ...(call.parent_id !== null && { parentSpanId: nameSpan(call.parent_id) }),
    name: call.op_name.split('/').at(-1)!.split(':')[0]!,
    kind: 1,
    startTimeUnixNano: `${Date.parse(call.started_at)}000000`,
    endTimeUnixNano: `${Date.parse(call.ended_at)}000000`,
    attributes: toAttributes({
      'openinference.span.kind': 'LLM',
      'llm.model_name': model,
      'input.value': JSON.stringify(call.inputs),
      'input.mime_type': 'application/json',
      'output.value': JSON.stringify(call.output),
      'output.mime_type': 'application/json',
      'llm.token_count.prompt': 64n,
      'llm.token_count.completion': 36n,
      'llm.token_count.total': 100n,
      ...(call.attributes as { environment: string; customer: string } & { weave?: never }),
    }),
    status: call.exception === null ? { code: 1 } : { code: 2, message: call.exception },
  }
}

/** A hash of the call's id. The end of the id has too few random bits to distinguish millions of calls. */
const nameSpan = (callId: string) => createHash('sha256').update(callId).digest('hex').slice(0, 16)
