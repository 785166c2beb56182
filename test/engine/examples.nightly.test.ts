import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ensureClientPython, listArtFolders } from '../support/client-python.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { createTraceClient } from '../support/trace-client.ts'

const run = promisify(execFile)
const stack = useStack()
const rest = createRest(stack)
const artFolders = await listArtFolders()
const examples = path.join(import.meta.dirname, '..', '..', 'examples')

/** Runs a Python example with the packages of a folder of test/clients. Returns its lines. */
async function runExample(file: string, packages: string, more: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const python = await ensureClientPython(packages)
  const home = await mkdtemp(path.join(tmpdir(), 'trainyard-example-'))
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: home,
    TRAINYARD_URL: stack.url,
    TRAINYARD_API_KEY: stack.apiKey,
    TRAINYARD_BASE_MODEL: stack.baseModel,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    HF_HUB_OFFLINE: '1',
    ...more,
  }
  try {
    const { stdout } = await run(python, [path.join(examples, file)], { env, cwd: home })
    return stdout.trim().split('\n')
  } finally {
    await rm(home, { recursive: true })
  }
}

test.each(artFolders)("ART's loop trains an agent on a reward, with the packages of %s", async (packages) => {
  const lines = await runExample('art-rl/loop.py', packages, { STEPS: '2', WANDB_MODE: 'disabled' })
  const [first, second, last] = lines.slice(-3)
  expect(first).toMatch(/^step 1: mean reward before it \d\.\d{3}, loss -?\d+\.\d{3}$/)
  expect(second).toMatch(/^step 2: /)
  expect(last).toMatch(/^chat with wandb-artifact:\/\/\/\w+\/examples\/warm-\d+$/)
})

test('SFT of a JSONL file teaches a model its answer', async () => {
  const lines = await runExample('sft/train.py', artFolders[0]!)
  expect(lines.at(-1)).toBe('the model answers: It is purple.')
})

test('the resources for kubectl train on an uploaded data set', async () => {
  const data = readFileSync(path.join(examples, 'sft', 'train.jsonl'), 'utf8')
  await rest.upload('/v1/preview/artifacts/local/demo/colours?file=train.jsonl', data)
  const file = path.join(examples, 'kubectl', 'model-and-job.yaml')
  const [model] = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as object)
  expect(model).toMatchObject({ spec: { name: 'colours' } })
  try {
    await stack.kubectl('apply', '-f', file)
    await stack.kubectl('wait', '--for=condition=Complete', 'tj/colours-1', '--timeout=300s')
    const [answer] = await rest.sample('local/demo/colours', 'Name a colour.', { temperature: 0 })
    expect(answer?.message.content.trim()).toBe('It is purple.')
  } finally {
    await stack.kubectl('delete', '-f', file, '--wait=false')
  }
})

test('calls of weave are traced and read back', async () => {
  const lines = await runExample('tracing/weave_calls.py', 'weave-python')
  expect(lines.filter((line) => line.includes('->')).toSorted()).toEqual([
    "shorten {'text': 'the tide is coming in'} -> the tide",
    "summarize {'text': 'the tide is coming in'} -> THE TIDE",
  ])
})

test('spans of OpenTelemetry arrive as calls', async () => {
  const [line = ''] = await runExample('tracing/otel_spans.py', 'weave-python')
  const [, traceId] = /^sent the trace ([0-9a-f]{32}) to local\/examples$/.exec(line) ?? []
  const query = { project_id: 'local/examples', filter: { trace_ids: [traceId] } }
  const answer = await createTraceClient(stack.url, stack.apiKey).post('/traces/calls/stream_query', query)
  expect(answer.body).toMatchObject([
    { output: { 'output.value': 'because' } },
    { summary: { usage: { 'tiny-chat': {} } } },
  ])
})
