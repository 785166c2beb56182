import { expect, onTestFinished, test } from 'vitest'
import { isReady } from '../../lib/kube/objects.ts'
import { addKey, serveApi } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { listenAsEngine, randomAddress } from '../support/fake-engine.ts'
import { nowhere, operateNamespace } from '../support/scaled-base-model.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const model = 'sleepy'
const autoscaling = { min: 0, max: 2, targetInFlight: 100, scaleDownDelaySeconds: 1 }
const spec = {
  names: [model],
  source: { path: 'models/none' },
  engine: { autoscaling, resources: nowhere },
  trainer: { warm: { min: 0 } },
}

/** A gateway and an operator, with an engine that is scaled to zero. */
async function startAtZero(env: Record<string, string> = {}) {
  const operated = await operateNamespace(stack)
  const { namespace, database, applyBaseModel, readBaseModel } = operated
  // The defaults of a server that is no test's.
  const hold = { TRAINYARD_HOLD_SECONDS: '600', TRAINYARD_HOLD_REQUESTS: '1000' }
  const server = await serveApi(stack, database.databaseUrl, { TRAINYARD_NAMESPACE: namespace, ...hold, ...env })
  onTestFinished(() => server.remove())
  await applyBaseModel(model, spec)
  await eventually(async () => expect((await readBaseModel(model)).status?.reason).toBe('ScaledToZero'), 60_000, 100)
  const key = await addKey(database.pool, 'acme', 'read')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const messages = [{ role: 'user', content: 'hi' }]
  const chat = () => post(`${server.url}/v1/chat/completions`, key, { model, messages })
  const listModels = async () => (await fetch(`${server.url}/v1/models`, { headers })).text()
  /** The report of a gateway expires by itself. Tests do not wait for it. */
  const waitForZero = () =>
    eventually(
      async () => {
        await database.pool.query('UPDATE training.engine_demand SET expires_at = now()')
        expect((await readBaseModel(model)).status?.reason).toBe('ScaledToZero')
      },
      60_000,
      100,
    )
  return { ...operated, chat, listModels, waitForZero }
}

/** An engine that answers at an address, until the test ends. */
async function answerAt(address: string) {
  const engine = await listenAsEngine(address, (request, response) => {
    request.resume()
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 0, model, choices }))
  })
  onTestFinished(() => {
    engine.closeAllConnections()
    engine.close()
  })
}

test('rule 8: 1,000 chats sent to an engine at zero start engines and are all answered; then there are none again', async () => {
  const { namespace, chat, listModels, waitForZero, readBaseModel, readDeployment, listPods, setReady } =
    await startAtZero()
  expect(await listModels()).toContain(model)
  const [row] = (await stack.kubectl('-n', namespace, 'get', 'bm', '--no-headers')).split('\n')
  expect(row).toMatch(/sleepy +sleepy +0\/0 +0\/0 +True +ScaledToZero/)

  const chats = Array.from({ length: 1_001 }, chat)
  const rejected = await Promise.race(chats)
  expect(rejected.status).toBe(503)
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(rejected.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  await eventually(async () => expect(await listPods(model, 'engine')).toHaveLength(2), 60_000, 100)
  expect((await readBaseModel(model)).status).toMatchObject({ engine: { summary: '0/2' } })
  // The operator is the one writer of replicas.
  await stack.kubectl('-n', namespace, 'scale', 'deployment', `${model}-engine`, '--replicas=5')
  await eventually(async () => expect((await readDeployment(model)).spec?.replicas).toBe(2), 60_000, 100)
  // Of five pods, any two may be left.
  await eventually(
    async () => {
      const pods = await listPods(model, 'engine')
      expect(pods).toHaveLength(2)
      for (const pod of pods.filter((each) => !isReady(each))) {
        const address = randomAddress()
        await answerAt(address)
        await setReady(pod, address)
      }
    },
    60_000,
    100,
  )
  const answers = await Promise.all(chats)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1_000)

  await waitForZero()
  await eventually(async () => expect(await listPods(model, 'engine')).toEqual([]), 60_000, 100)
})

test('a chat that comes while the last engine ends is held, and starts another one', async () => {
  const { namespace, chat, waitForZero, listPods, setReady } = await startAtZero()
  const start = async () => {
    const [pod] = await eventually(
      async () => {
        const pods = await listPods(model, 'engine')
        expect(pods).toHaveLength(1)
        return pods
      },
      60_000,
      50,
    )
    const address = randomAddress()
    await answerAt(address)
    await setReady(pod!, address)
    return pod!.metadata.name ?? ''
  }
  const early = chat()
  const ending = await start()
  expect((await early).status).toBe(200)
  // A finalizer keeps it, so that it is there while it ends.
  const patch = (finalizers: string[]) =>
    stack.kubectl(
      '-n',
      namespace,
      'patch',
      'pod',
      ending,
      '--type=merge',
      '-p',
      JSON.stringify({ metadata: { finalizers } }),
    )
  await patch(['trainyard.test/ending'])
  await waitForZero()
  const late = chat()
  await start()
  expect((await late).status).toBe(200)
  await patch([])
})

test('a chat that is held for too long is answered with a 503', async () => {
  const { chat } = await startAtZero({ TRAINYARD_HOLD_SECONDS: '1' })
  const answer = await chat()
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60)
})

test.each([
  ['both', { replicas: 1, autoscaling }, 'give either engine.replicas or engine.autoscaling'],
  [
    'a maximum below the minimum',
    { autoscaling: { min: 3, max: 2 } },
    'autoscaling.max must be at least autoscaling.min',
  ],
])('a BaseModel with %s is rejected', async (_, engine, message) => {
  const object = { apiVersion: 'trainyard.dev/v1alpha1', kind: 'BaseModel', metadata: { name: 'wrong' } }
  await expect(stack.apply({ ...object, spec: { ...spec, engine } }, '--dry-run=server')).rejects.toThrow(message)
})
