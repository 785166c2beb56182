import { expect, test, vi } from 'vitest'
import { clientTimeoutMs, newProject, projectId, runNode, runPython } from '../support/client-scripts.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'
import { basic } from '../support/post.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = await useOwnStack()
const { send } = createRest(stack)

interface Sent {
  trace_id: string
  root: string
  chat: string
}

interface Call {
  id: string
  op_name: string
  [field: string]: unknown
}

const sdks: [string, (env: NodeJS.ProcessEnv) => Promise<Sent>][] = [
  ['Node', (env) => runNode(stack, 'opentelemetry/spans.ts', env)],
  ['Python', (env) => runPython(stack, 'spans', { packages: 'weave-python', env })],
]

const headers = (project: string) =>
  `authorization=${encodeURIComponent(basic(stack.apiKey).authorization)},project_id=${project}`

// The project is named by headers or by the resource. Both addresses are used, plain and compressed.
const ways: [string, (project: string) => NodeJS.ProcessEnv][] = [
  [
    'with headers',
    (project) => ({ TRACES_URL: `${stack.url}/otel/v1/traces`, OTEL_EXPORTER_OTLP_HEADERS: headers(project) }),
  ],
  [
    'compressed, under /traces',
    (project) => ({
      TRACES_URL: `${stack.url}/traces/otel/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: headers(project),
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    }),
  ],
  [
    'with its project among its resources',
    (project) => ({
      TRACES_URL: `${stack.url}/otel/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: `wandb-api-key=${stack.apiKey}`,
      RESOURCE: JSON.stringify({ 'wandb.entity': project.split('/')[0], 'wandb.project': project.split('/')[1] }),
    }),
  ],
]

async function readCalls(project: string, more: object = {}): Promise<Call[]> {
  const response = await send('POST', '/traces/calls/stream_query', { project_id: project, ...more })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Call)
}

test.concurrent.each(sdks.flatMap(([sdk, run]) => ways.map(([way, envOf]) => [sdk, way, run, envOf] as const)))(
  'spans of %s arrive as calls, %s',
  async (_sdk, _way, run, envOf) => {
    const project = projectId(newProject())
    const sent = await run(envOf(project))
    const calls = await readCalls(project)
    expect(calls).toHaveLength(703)
    const [answer, chat, tool] = ['answer', 'chat', 'tool'].map((name) => find(calls, name))
    expect(answer).toMatchObject({
      id: sent.root,
      trace_id: sent.trace_id,
      parent_id: null,
      display_name: 'Why',
      thread_id: 'talk',
      turn_id: sent.root,
      inputs: { 'input.value': { question: 'why?' } },
      output: { 'output.value': 'because' },
      summary: { weave: { status: 'success' } },
    })
    expect(chat).toMatchObject({
      id: sent.chat,
      parent_id: sent.root,
      inputs: { 'gen_ai.prompt': [{ role: 'user', content: 'why? ☂' }] },
      output: { 'gen_ai.completion': [{ content: 'because' }] },
      attributes: {
        system: 'trainyard',
        model: 'tide-1',
        model_parameters: { temperature: 0.5 },
        otel_span: { kind: 'CLIENT', attributes: { app: { tags: ['a', 'b'] } }, events: [{ name: 'first token' }] },
      },
      summary: { usage: { 'tide-1': { input_tokens: 11, output_tokens: 5 } } },
    })
    expect(tool).toMatchObject({ exception: 'it broke', summary: { weave: { status: 'error' } } })
    const page = await readCalls(project, { sort_by: [{ field: 'attributes.number', direction: 'desc' }], limit: 1 })
    expect(page[0]).toMatchObject({ attributes: { otel_span: { attributes: { number: 699 } } } })
  },
)

/** A span's name may have become the ref of an op. */
function find(calls: Call[], name: string): Call | undefined {
  return calls.find(({ op_name }) => op_name === name || op_name.includes(`/op/${name}:`))
}
