import { expect, onTestFinished, test, vi } from 'vitest'
import { clientTimeoutMs, newProject, projectId, runNode } from '../support/client-scripts.ts'
import { useStack } from '../support/stack.ts'
import { openTlsFront } from '../support/tls-front.ts'

vi.setConfig({ testTimeout: clientTimeoutMs })
const stack = useStack()
const where = () => ({ WF_TRACE_SERVER_URL: `${stack.url}/traces`, WEAVE_PROJECT: projectId(newProject()) })

const called = (op: string, inputs: object, output: unknown, more: object = {}) => ({
  op,
  name: null,
  parent: null,
  inputs,
  output,
  exception: null,
  status: 'success',
  ...more,
})

const note = 'täglich ☂ \u2028 \u007f'
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const output = { model: 'tide-1', usage }
const ops = {
  streamed: 'one two',
  calls: [
    called('ask', { model: 'tide-1' }, output, { name: 'ask tide-1' }),
    called('double', { number: 3 }, 6, { parent: 'outer' }),
    called('double', { number: 4 }, 8, { parent: 'outer' }),
    called('fail', { why: 'no such luck' }, null, { exception: 'no such luck', status: 'error' }),
    called('outer', { number: 3, note }, { sum: 14, note }),
    called('stream', { words: ['one ', 'two'] }, { text: 'one two' }),
  ],
  tenant: 'blue',
  usage: { 'tide-1': { requests: 1, ...usage } },
  countOfDouble: 32,
  limited: 5,
  allEnded: true,
  read: { id: true, output },
  renamed: 'renamed',
}

test.concurrent('weave for Node traces ops of every kind and reads its calls', async () => {
  expect(await runNode(stack, 'weave-npm/ops.ts', where())).toEqual(ops)
})

// Without a configured trace address, the SDK only uses TLS.
test.concurrent('weave for Node needs only the address, the key and a project name without an entity', async () => {
  const front = await openTlsFront(stack)
  onTestFinished(front.close)
  const env = { WANDB_BASE_URL: front.url, NODE_EXTRA_CA_CERTS: front.authority, WEAVE_PROJECT: newProject() }
  expect(await runNode(stack, 'weave-npm/ops.ts', env)).toEqual(ops)
})

test.concurrent('weave for Node publishes objects, a dataset of 5,000 rows and an image, and evaluates', async () => {
  expect(await runNode(stack, 'weave-npm/objects.ts', where())).toEqual({
    rows: { count: 5000, sum: 12_497_500, length: 5000 },
    same_digest: true,
    settings: 0.5,
    latest: 1,
    by_uri: 1,
    prompt: [{ role: 'user', content: 'Say tide.' }],
    image: ['image.png'],
    result: {
      model_success: { true_count: 3, true_fraction: 1 },
      model_output: { mean: 4 },
      exact: { true_count: 1, true_fraction: 1 / 3 },
      model_latency: 'object',
    },
    counts: {
      paint: 1,
      'Evaluation.evaluate': 2,
      predict: 3,
      'Evaluation.predictAndScore': 3,
      exact: 3,
      'Evaluation.predict_and_score': 1,
      'Model.predict': 1,
      'right.score': 1,
      'Evaluation.summarize': 1,
    },
  })
})
