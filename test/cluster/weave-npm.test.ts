import { expect, onTestFinished, test, vi } from 'vitest'
import { clientTimeoutMs, newProject, projectId, runNode } from '../support/client-scripts.ts'
import { useStack } from '../support/stack.ts'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { certificatesOf } from '../../local/stack/programs/certificates.ts'
import { layoutOf } from '../../local/stack/layout.ts'

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
  const front = await openTlsFront()
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

/** A stack's address behind TLS, as an ingress would provide it. */
interface TlsFront {
  url: string
  /** The file with the certificate of the authority to trust. */
  authority: string
  close: () => Promise<void>
}

/** Opens a TLS front on a free port of 127.0.0.1, with the certificate of the stack's kube-apiserver. */
async function openTlsFront(): Promise<TlsFront> {
  const { authority, apiserver, apiserverKey } = certificatesOf(layoutOf(stack.stateFolder))
  const target = new URL(stack.url)
  const server = createServer({ cert: readFileSync(apiserver), key: readFileSync(apiserverKey) }, (incoming) => {
    const outgoing = connect(Number(target.port), target.hostname)
    incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy())
    outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy())
    incoming.pipe(outgoing).pipe(incoming)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
