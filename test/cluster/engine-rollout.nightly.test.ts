import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { labels } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { addKey, serveApi } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { listenAsEngine, randomAddress } from '../support/fake-engine.ts'
import { noImages } from '../support/operator-process.ts'
import { nowhere, operateNamespace, type OperatedNamespace } from '../support/scaled-base-model.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const model = 'rolling'
const specOf = (engine: object, name = model) => ({
  names: [name],
  source: { path: 'models/none' },
  engine: { resources: nowhere, ...engine },
  trainer: { warm: { min: 0 } },
})

/** An engine that takes these keys. */
async function answerAt(address: string, keys: string[]): Promise<Server> {
  return listenAsEngine(address, (request, response) => {
    request.resume()
    const { authorization } = request.headers
    if (!keys.some((key) => authorization === `Bearer ${key}`)) {
      response.writeHead(401).end('{}')
      return
    }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    const reply = JSON.stringify({ id: '1', object: 'chat.completion', created: 0, model, choices })
    setTimeout(() => response.end(reply), 20)
  })
}

interface Engines {
  /** The hashes of the pods that were Ready, in the order in which they became so. */
  hashes: string[]
  /** Pods that do not become Ready while it returns true. */
  isStuck: (pod: Pod) => boolean
  /** What an engine takes that starts now. */
  keys: string[]
}

/** Plays the nodes: each engine pod becomes Ready, and an engine that is gone takes no more connections. */
function runEngines({ listPods, setReady }: OperatedNamespace): Engines {
  const engines: Engines = { hashes: [], isStuck: () => false, keys: ['none'] }
  const running = new Map<string, Server>()
  const stop = new AbortController()
  const step = async () => {
    const pods = (await listPods(model, 'engine')).filter((pod) => !engines.isStuck(pod))
    for (const [uid, server] of running) {
      if (pods.some(({ metadata }) => metadata.uid === uid)) continue
      // What preStop waits for: gateways have learned of it.
      setTimeout(() => server.close(), 1_000)
      running.delete(uid)
    }
    for (const pod of pods.filter(({ metadata }) => !running.has(metadata.uid ?? ''))) {
      const address = randomAddress()
      running.set(pod.metadata.uid ?? '', await answerAt(address, engines.keys))
      engines.hashes.push(pod.metadata.labels?.[labels.specHash] ?? '')
      await setReady(pod, address)
    }
  }
  const loop = (async () => {
    while (!stop.signal.aborted) {
      await step()
      await delay(100)
    }
  })()
  onTestFinished(async () => {
    stop.abort()
    await loop
    for (const server of running.values()) {
      server.closeAllConnections()
      server.close()
    }
  })
  return engines
}

/** A gateway before the engines of a base model. */
async function serve(engine: object) {
  const operated = await operateNamespace(stack)
  const { namespace, database } = operated
  const start = async (more: Record<string, string> = {}) => {
    const env = { TRAINYARD_NAMESPACE: namespace, TRAINYARD_HOLD_SECONDS: '60', ...more }
    const started = await serveApi(stack, database.databaseUrl, env)
    onTestFinished(() => started.remove())
    return started
  }
  const server = await start()
  const engines = runEngines(operated)
  await operated.applyBaseModel(model, specOf(engine))
  const key = await addKey(database.pool, 'acme', 'read')
  const body = { model, messages: [{ role: 'user', content: 'hi' }] }
  const chat = async (url = server.url) => {
    const response = await post(`${url}/v1/chat/completions`, key, body)
    await response.text()
    return response.status
  }
  await eventually(async () => expect(await chat()).toBe(200), 60_000, 100)
  return { ...operated, engines, chat, start }
}

const minChats = 1_000

/** Sends chats, some at once, until `isOver`, but not fewer than `minChats`. Returns how many had which status. */
async function chatUntil(chat: () => Promise<number>, isOver: () => boolean): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  let sent = 0
  const send = async () => {
    while (!isOver() || sent < minChats) {
      sent++
      const status = await chat()
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 4 }, send))
  return counts
}

// The others take longer.

test.each([2, 1])('with engines: %i, no chat fails while they are replaced', async (replicas) => {
  const { engines, chat, applyBaseModel, readBaseModel } = await serve({ replicas })
  await eventually(() => expect(engines.hashes).toHaveLength(replicas), 60_000, 100)
  const [old] = engines.hashes
  let isOver = false
  const chats = chatUntil(
    () => chat(),
    () => isOver,
  )
  await applyBaseModel(model, specOf({ replicas, args: ['--more'] }))
  await eventually(
    async () => {
      expect(engines.hashes.filter((hash) => hash !== old)).toHaveLength(replicas)
      expect((await readBaseModel(model)).status?.reason).toBe('Ready')
    },
    60_000,
    100,
  )
  isOver = true
  const counts = await chats
  expect(Object.keys(counts)).toEqual(['200'])
  expect(counts[200]).toBeGreaterThanOrEqual(minChats)
})

test('if no node takes the successor of a single engine, the engine makes room, and chats are held', async () => {
  const { engines, namespace, chat, applyBaseModel, listPods } = await serve({})
  const [old] = await listPods(model, 'engine')
  const isOld = ({ metadata }: Pod) => metadata.uid === old?.metadata.uid
  engines.isStuck = (pod) => !isOld(pod)
  await applyBaseModel(model, specOf({ args: ['--more'] }))
  const successor = await eventually(
    async () => {
      const pods = await listPods(model, 'engine')
      expect(pods.some(isOld)).toBe(true)
      return pods.find((pod) => !isOld(pod)) ?? expect.fail('there is no successor yet')
    },
    60_000,
    100,
  )
  expect(await chat()).toBe(200)
  // As if it had waited for two minutes.
  const lastTransitionTime = new Date(Date.now() - 120_000).toISOString().replace(/\.\d+/, '')
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', lastTransitionTime }]
  const patch = JSON.stringify({ status: { conditions } })
  const { name = '' } = successor.metadata
  await stack.kubectl('-n', namespace, 'patch', 'pod', name, '--subresource=status', '--type=strategic', '-p', patch)
  await eventually(async () => expect((await listPods(model, 'engine')).some(isOld)).toBe(false), 60_000, 100)
  const held = chat()
  engines.isStuck = () => false
  expect(await held).toBe(200)
})

test('no chat fails while the key of engines is changed, before old and new gateways', async () => {
  const { engines, chat, start, restart } = await serve({ replicas: 1 })
  const [old] = engines.hashes
  const keys = { TRAINYARD_ENGINE_KEY: 'new', TRAINYARD_PREVIOUS_ENGINE_KEY: 'none' }
  engines.keys = ['new', 'none']
  const { url } = await start(keys)
  let isOver = false
  const chats = [undefined, url].map((each) =>
    chatUntil(
      () => chat(each),
      () => isOver,
    ),
  )
  await restart(keys)
  await eventually(() => expect(engines.hashes.filter((hash) => hash !== old)).toHaveLength(1), 60_000, 100)
  await delay(2_000)
  isOver = true
  for (const counts of await Promise.all(chats)) expect(Object.keys(counts)).toEqual(['200'])
})

test('when the default image changes, one base model after the other replaces its engine', async () => {
  const operated = await operateNamespace(stack)
  const { applyBaseModel, readBaseModel, readDeployment, listPods, setReady, restart } = operated
  const names = ['first', 'second']
  for (const name of names) await applyBaseModel(name, specOf({}, name))
  const becomeReady = async (name: string) => {
    for (const pod of await listPods(name, 'engine')) await setReady(pod)
  }
  await eventually(
    async () => {
      for (const name of names) expect(await listPods(name, 'engine')).toHaveLength(1)
    },
    60_000,
    100,
  )
  for (const name of names) await becomeReady(name)
  await restart({ TRAINYARD_IMAGES: noImages.replaceAll('none', 'another') })
  const imageOf = async (name: string) => JSON.stringify(await readDeployment(name)).includes('"image":"another"')
  const countChanged = async () => (await Promise.all(names.map(imageOf))).filter(Boolean).length
  await eventually(async () => expect(await countChanged()).toBe(1), 60_000, 100)
  // Two passes of the operator.
  await delay(6_500)
  expect(await countChanged()).toBe(1)
  const [begun = '', waiting = ''] = (await imageOf('first')) ? names : names.toReversed()
  const readTurn = async () =>
    (await readBaseModel(waiting)).status?.conditions?.find(({ type }) => type === 'EnginesUpToDate')
  const message = expect.stringContaining(`after those of the BaseModel ${begun}:`)
  expect(await readTurn()).toMatchObject({ status: 'False', reason: 'WaitingForBaseModel', message })
  await becomeReady(begun)
  await eventually(async () => expect(await countChanged()).toBe(2), 60_000, 100)
  await eventually(async () => expect(await readTurn()).toMatchObject({ status: 'True' }), 60_000, 100)
})
