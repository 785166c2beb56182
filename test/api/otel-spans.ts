import type { OtlpAttribute, OtlpRequest, OtlpSpan, OtlpValue } from '../support/otlp.ts'
import { createRandom, type Random } from '../clients/weave-differential/random.ts'

// Keys of conventions, alone and as a prefix of other keys, and other keys. Some contradict each other.
const textKeys = [
  'ai.prompt',
  'gen_ai.prompt',
  'gen_ai.prompt.0.role',
  'gen_ai.prompt.0.content',
  'gen_ai.prompt.1.role',
  'gen_ai.completion.0.content',
  'input.value',
  'input',
  'inputs',
  'input.a',
  'inputs.a.b',
  'mlflow.spanInputs',
  'traceloop.entity.input',
  'gcp.vertex.agent.tool_call_args',
  'gcp.vertex.agent.llm_request',
  'ai.response',
  'output.value',
  'output',
  'outputs',
  'outputs.a',
  'mlflow.spanOutputs',
  'gen_ai.content.completion',
  'traceloop.entity.output',
  'gcp.vertex.agent.llm_response',
  'gen_ai.system',
  'llm.system',
  'weave.span.kind',
  'traceloop.span.kind',
  'llm.provider',
  'ai.model.provider',
  'wandb.attributes.tag',
  'service.0',
  'service.1',
  'list.0',
  'list.2',
  'http.url',
  'http.url.full',
  'plain',
  'a..b',
] as const
// These values must be texts: otherwise the reference fails with the whole request.
const nameKeys = [
  'gen_ai.response.model',
  'llm.model_name',
  'ai.model.id',
  'gen_ai.request.model',
  'wandb.display_name',
  'wandb.thread_id',
  'gcp.vertex.agent.session_id',
  'wandb.wb_run_id',
]
const countKeys = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.prompt_tokens',
  'llm.token_count.prompt',
  'ai.usage.promptTokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.completion',
  'ai.usage.completionTokens',
  'llm.usage.total_tokens',
  'llm.token_count.total',
]
const otherKeys = [
  'gen_ai.request.temperature',
  'gen_ai.request.max_tokens',
  'wandb.is_turn',
  'wandb.wb_run_step',
  'wandb.wb_run_step_end',
  'langfuse.startTime',
  'langfuse.endTime',
  'wandb.attributes',
]

const texts = [
  'hello',
  '',
  'ünï 𝒳 "\\\n',
  '{"k0": 1.50, "k1": {"k2": [1, {"0": 2}]}}',
  '["x", 1e-7]',
  '{"0": "a", "1": "b"}',
  '{broken',
  '[1, 2',
  '12',
  'true',
  ' {}',
  '9'.repeat(30),
]
const words = ['chat', 'POST /api/users', 'a.b,c;d|e?f', 'Übung', '𝒳', '/']

/** Generates exports of one span each. The same seed generates the same exports. */
export function generateExports(seed: number, count: number): OtlpRequest['resourceSpans'][0][] {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => ({
    resource: { attributes: attributesOf(random, ['service.name', 'host.ip.0', 'host.ip.1'], 3) },
    scopeSpans: [{ spans: [generateSpan(random)] }],
  }))
}

function generateSpan(random: Random): OtlpSpan {
  const startMicros = 1_700_000_000_000_000 + random.int(1e9) * 1_000
  const failed = random.chance(0.2)
  return {
    traceId: hex(random, 16),
    spanId: hex(random, 8),
    ...(random.chance(0.7) && { parentSpanId: hex(random, 8) }),
    ...(random.chance(0.2) && { traceState: 'a=1,b=2' }),
    name: generateName(random),
    kind: random.int(6),
    startTimeUnixNano: `${startMicros}000`,
    endTimeUnixNano: `${startMicros + random.int(1e7)}000`,
    attributes: generateAttributes(random),
    events: random.chance(0.2)
      ? [
          {
            timeUnixNano: `${startMicros}123`,
            name: 'event',
            attributes: attributesOf(random, ['exception.type', 'exception.message'], 2),
          },
        ]
      : [],
    links: random.chance(0.2)
      ? [{ traceId: hex(random, 16), spanId: hex(random, 8), attributes: attributesOf(random, ['why'], 1) }]
      : [],
    ...(random.chance(0.6) && { status: failed ? { code: 2, message: 'broken' } : { code: random.int(2) } }),
  }
}

function generateName(random: Random): string {
  return random.chance(0.8) ? random.pick(words) : random.pick(words).repeat(1 + random.int(60))
}

function generateAttributes(random: Random): OtlpAttribute[] {
  const some = (keys: readonly string[], most: number) => (random.chance(0.5) ? random.some(keys, most) : [])
  const attributes = [
    ...attributesOf(random, textKeys, 6),
    ...some(nameKeys, 3).map((key) => ({ key, value: { stringValue: random.pick(['m-1', 'name', 'x.y', '']) } })),
    ...some(countKeys, 4).map((key) => ({ key, value: countOf(random) })),
    ...some(otherKeys, 3).map((key) => ({ key, value: otherOf(random, key) })),
  ]
  // A value that is an object, followed by keys below it: the reference drops the earlier ones.
  const isObject = ({ value }: OtlpAttribute) =>
    'kvlistValue' in value || ('stringValue' in value && value.stringValue.startsWith('{"'))
  return attributes.toSorted((a, b) => Number(isObject(b)) - Number(isObject(a)) || a.key.length - b.key.length)
}

function attributesOf(random: Random, keys: readonly string[], most: number): OtlpAttribute[] {
  return random.some(keys, most).map((key) => ({ key, value: valueOf(random, 0) }))
}

function valueOf(random: Random, depth: number): OtlpValue {
  const kind = random.int(depth < 2 ? 10 : 7)
  if (kind < 3) return { stringValue: random.pick(texts) }
  if (kind === 3) return { boolValue: random.chance(0.5) }
  if (kind === 4) return { intValue: random.pick(['0', '1', '-9223372036854775808', '9223372036854775807', '123']) }
  if (kind === 5) return { doubleValue: random.pick([0, -0, 1, 0.1, 1e-7, 1e21, 123456.789, -2.5e300]) }
  if (kind === 6) return { bytesValue: 'AAH/' }
  const values = Array.from({ length: 1 + random.int(3) }, () => valueOf(random, depth + 1))
  if (kind === 7) return { arrayValue: { values } }
  return {
    kvlistValue: { values: values.map((value, index) => ({ key: random.pick(['k', '', 'x.y']) + index, value })) },
  }
}

function countOf(random: Random): OtlpValue {
  const count = random.int(3) * random.int(1_000)
  return random.pick<OtlpValue>([
    { intValue: String(count) },
    { stringValue: String(count) },
    { doubleValue: count + 0.7 },
    { boolValue: true },
  ])
}

function otherOf(random: Random, key: string): OtlpValue {
  if (key.startsWith('gen_ai.')) return random.pick<OtlpValue>([{ doubleValue: 0.5 }, { intValue: '100' }])
  if (key === 'wandb.is_turn')
    return random.pick<OtlpValue>([{ boolValue: true }, { boolValue: false }, { stringValue: 'yes' }])
  if (key === 'wandb.attributes') return { stringValue: '{"k0": true, "system": 1}' }
  if (key.startsWith('wandb.')) return { intValue: String(random.int(4)) }
  return random.pick<OtlpValue>([
    { stringValue: '2026-01-31T12:00:00.25+01:00' },
    { intValue: '1769860800123456000' },
    { doubleValue: 1769860800.5 },
  ])
}

function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () => (1 + random.int(255)).toString(16).padStart(2, '0')).join('')
}
