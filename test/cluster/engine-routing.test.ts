import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { countEngineDemand } from '../../db/demand/engine-demand.ts'
import { recordLoad } from '../../db/engines/loaded-adapters.ts'
import { withTransaction } from '../../db/pool.ts'
import { addKey, serveApi, startApiServer, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { addBaseModel, addEnginePod, setEngineReady } from '../support/fake-engine.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const namespace = `routing-${randomUUID()}`
const model = 'routed'
const entity = 'acme'
const messages = [{ role: 'user', content: 'hi' }]
const database = useTestDatabase()
let server: ServedApi
let key: string
let target: (number: number) => Parameters<typeof addEnginePod>[0]
const engines: Server[] = []
const processes: ChildProcess[] = []

beforeAll(async () => {
  await createNamespace(stack, namespace)
  const subnet = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const { kubectl } = stack
  target = (number) => ({
    kubectl,
    namespace,
    address: `${subnet}.${number}`,
    baseModel: model,
    podName: `engine-${number}`,
  })
  await addBaseModel({ namespace, pool: database.pool, baseModel: model })
  key = await addKey(database.pool, entity, 'read')
  server = await startOwnServer()
})
afterEach(async () => {
  for (const engine of engines.splice(0)) {
    engine.closeAllConnections()
    engine.close()
  }
  for (const child of processes.splice(0)) child.kill('SIGKILL')
  await stack.kubectl('-n', namespace, 'delete', 'pods', '--all', '--force', '--wait=false')
})
afterAll(async () => {
  await server?.remove()
  await removeNamespace(stack, namespace)
})

const hold = { TRAINYARD_HOLD_SECONDS: '30', TRAINYARD_HOLD_REQUESTS: '3' }
const startOwnServer = () => serveApi(stack, database.databaseUrl, { TRAINYARD_NAMESPACE: namespace, ...hold })
/** Starts a server that can get SIGTERM. */
const startOwnProcess = (drainSeconds = 20) =>
  startApiServer(stack, database.databaseUrl, {
    TRAINYARD_NAMESPACE: namespace,
    ...hold,
    TRAINYARD_DRAIN_SECONDS: String(drainSeconds),
  })

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

/** Starts an engine at the address of the pod with this number. */
async function listen(number: number, answer: Answer): Promise<void> {
  const handle = async (asked: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(asked).catch(() => Buffer.alloc(0))
    await answer(asked, response, body.toString())
  }
  const engine = createServer((asked, response) => void handle(asked, response)).listen(8000, target(number).address)
  engines.push(engine)
  await once(engine, 'listening')
}

/** Answers with a reply that names its engine. */
const reply =
  (name = 'engine'): Answer =>
  (_, response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: name }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 0, model, choices }))
  }

interface Stream {
  write: (content: string) => void
  end: () => void
  closed: Promise<unknown>
}

/** Begins a stream for each request. The test continues it. */
function stream(begun: (stream: Stream) => void): Answer {
  return (_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    const write = (content: string) => {
      const choices = [{ index: 0, delta: { content } }]
      response.write(
        `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 0, model, choices })}\n\n`,
      )
    }
    write('first')
    begun({ write, end: () => response.end('data: [DONE]\n\n'), closed: once(response, 'close') })
  }
}

const chat = (more: object = {}, { bearer = key, signal, url = server.url }: ChatOptions = {}) =>
  post(`${url}/v1/chat/completions`, bearer, { model, messages, ...more }, { signal })

interface ChatOptions {
  bearer?: string
  signal?: AbortSignal
  url?: string
}

const readContent = async (response: Response) => {
  const body = (await response.json()) as { choices: { message: { content: string } }[] }
  return body.choices[0]?.message.content
}

/** Sends eight chats with different prefixes. Returns which engines answered. */
const askEight = async (url = server.url) => {
  const prompts = Array.from({ length: 8 }, (_, number) => [{ role: 'user', content: `${number}` }])
  const answers = await Promise.all(prompts.map((prompt) => chat({ messages: prompt }, { url })))
  return Promise.all(answers.map(readContent))
}

describe('while no engine is ready', () => {
  test('a request is held and is answered as soon as an engine is ready, unless its client has left', async () => {
    let asked = 0
    await listen(1, (...args) => {
      asked++
      return reply()(...args)
    })
    const left = new AbortController()
    const waiting = [chat(), chat()]
    const leaving = chat({}, { signal: left.signal })
    await addEnginePod({ ...target(1), podName: 'other', baseModel: 'another' })
    left.abort()
    await expect(leaving).rejects.toThrow()
    await addEnginePod(target(1))
    const since = performance.now()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
    expect(performance.now() - since).toBeLessThan(5_000)
    expect(asked).toBe(2)
  })

  test.each([
    ['at once', true],
    ['within a second, even if it was not notified', false],
  ])('a request that waits for a deleted base model is answered %s', async (_, isNotified) => {
    const deleted = `deleted-${randomUUID()}`
    const { pool } = database
    await addBaseModel({ namespace, pool, baseModel: deleted })
    const waiting = [chat({ model: deleted }), chat()]
    await eventually(async () => expect(await countEngineDemand(pool, namespace, deleted)).toBe(1), 60_000, 20)
    const since = performance.now()
    await withTransaction(pool, async (connection) => {
      if (!isNotified) await connection.query('SET LOCAL session_replication_role = replica')
      await connection.query('DELETE FROM training.base_models WHERE name = $1', [deleted])
    })
    const ended = await Promise.race(waiting)
    expect(performance.now() - since).toBeLessThan(5_000)
    expect([ended.status, ended.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await ended.text()).toContain('The base model of this request is not being served any more.')
    await listen(1, reply())
    await addEnginePod(target(1))
    expect((await waiting[1]!).status).toBe(200)
  })

  test('the number of held requests is limited, and one entity cannot use the whole limit when others wait', async () => {
    const others = await addKey(database.pool, 'globex', 'read')
    const own = [chat(), chat(), chat(), chat()]
    const rejected = await Promise.race(own)
    expect([rejected.status, rejected.headers.get('retry-after'), await rejected.json()]).toEqual([
      503,
      '5',
      expect.objectContaining({ detail: expect.stringContaining('and 3 requests wait for one') as string }),
    ])
    let answered = 0
    for (const each of own) void each.then(() => answered++)
    const foreign = chat({}, { bearer: others })
    await eventually(() => expect(answered).toBe(2), 60_000, 20)
    await listen(1, reply())
    await addEnginePod(target(1))
    expect((await foreign).status).toBe(200)
    const statuses = (await Promise.all(own)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 503, 503])
  })
})

test('the turns of a conversation go to one engine, in each apiserver, and conversations to both', async () => {
  const other = await startOwnServer()
  onTestFinished(() => other.remove())
  for (const number of [1, 2]) {
    await listen(number, reply(`engine ${number}`))
    await addEnginePod(target(number))
  }
  const later = [
    { role: 'assistant', content: 'hello' },
    { role: 'user', content: 'and now?' },
  ]
  const converse = async (number: number) => {
    const first = [{ role: 'user', content: `conversation ${number}` }]
    const turns = [chat({ messages: first }), chat({ messages: [...first, ...later] }, { url: other.url })]
    return new Set(await Promise.all(turns.map(async (turn) => readContent(await turn))))
  }
  // Both know both engines.
  await eventually(async () => expect(new Set(await askEight()).size).toBe(2), 60_000, 20)
  await eventually(async () => expect(new Set(await askEight(other.url)).size).toBe(2), 60_000, 20)
  const seen: Set<string | undefined>[] = []
  for (let number = 0; number < 16; number++) seen.push(await converse(number))
  expect(seen.map(({ size }) => size)).toEqual(Array(16).fill(1))
  expect(new Set(seen.flatMap((names) => [...names])).size).toBe(2)
})

describe('an engine that ends', () => {
  /** Starts an engine in its own process. It runs this code for each request. */
  const startProcess = async (number: number, answer: string) => {
    const handle = `(_, response) => { console.log('asked'); ${answer} }`
    const script = `require('http').createServer(${handle}).listen(8000, '${target(number).address}', () => console.log('up'))`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    processes.push(child)
    await once(child.stdout, 'data')
    await addEnginePod(target(number))
    return child
  }

  test('before it answers: another engine gets its requests', async () => {
    const child = await startProcess(1, '')
    const first = chat()
    await once(child.stdout, 'data')
    await listen(2, reply('second'))
    await addEnginePod(target(2))
    child.kill('SIGKILL')
    expect(await readContent(await first)).toBe('second')
    expect(await askEight()).toEqual(Array(8).fill('second'))
  })

  test('in the middle of a stream: the stream ends with an error', async () => {
    const event = JSON.stringify({ model, choices: [{ index: 0, delta: { content: 'first' } }] })
    const begin = `response.setHeader('content-type', 'text/event-stream'); response.write('data: ${event}\\n\\n')`
    const child = await startProcess(1, begin)
    const response = await chat({ stream: true })
    child.kill('SIGKILL')
    const events = (await response.text()).trimEnd().split('\n\n')
    expect(events).toHaveLength(2)
    expect(events[0]).toContain('first')
    expect(JSON.parse(events[1]!.replace('data: ', ''))).toMatchObject({ error: { message: expect.any(String) } })
  })

  /** Deletes a pod. It stays until `remove` is called, like a pod that drains. */
  const terminate = async (number: number) => {
    const { podName } = target(number)
    const patch = (finalizers: string[]) =>
      stack.kubectl(
        '-n',
        namespace,
        'patch',
        'pod',
        podName!,
        '-p',
        JSON.stringify({ metadata: { finalizers } }),
        '--type=merge',
      )
    await patch(['trainyard.dev/test'])
    await stack.kubectl('-n', namespace, 'delete', 'pod', podName!, '--wait=false')
    return { remove: () => patch([]) }
  }

  test.each([
    ['is not Ready', () => setEngineReady(target(1), false).then(() => undefined)],
    ['is being deleted', () => terminate(1)],
  ])('when it %s gets no new requests, and completes its streams', async (_, drain) => {
    const begun = Promise.withResolvers<Stream>()
    const answers = [stream(begun.resolve)]
    // It may be asked until the gateway knows of its end.
    await listen(1, (...args) => (answers.pop() ?? reply('first'))(...args))
    await addEnginePod(target(1))
    const streaming = await chat({ stream: true })
    const running = await begun.promise
    await listen(2, reply('second'))
    await addEnginePod(target(2))
    const drained = await drain()
    await eventually(async () => {
      expect(await askEight()).toEqual(Array(8).fill('second'))
    })
    running.write('last')
    await drained?.remove()
    running.write('after it was removed')
    running.end()
    expect(await streaming.text()).toMatch(/first[^]*last[^]*after it was removed[^]*\[DONE\]/)
  })
})

describe('an engine that answers 500', () => {
  /** Begins a chat at engine 1, which answers with an error when the test says so. */
  const begin = async (more: object = {}) => {
    const [asked, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await listen(1, async (_, response) => {
      asked.resolve()
      await failing.promise
      response.statusCode = 500
      response.end(JSON.stringify({ error: { message: 'EngineCore encountered an issue.', code: 500 } }))
    })
    await addEnginePod(target(1))
    const answering = chat(more)
    await asked.promise
    await listen(2, reply('second'))
    await addEnginePod(target(2))
    return { answering, fail: failing.resolve }
  }

  test.each([{}, { stream: true }])('because it is stopped: another engine answers the chat, %o', async (more) => {
    const { answering, fail } = await begin(more)
    await setEngineReady(target(1), false)
    await eventually(async () => expect(await askEight()).toEqual(Array(8).fill('second')))
    fail()
    expect(await readContent(await answering)).toBe('second')
  })

  test('although it is Ready: the client gets an error, because the chat may be the reason', async () => {
    const { answering, fail } = await begin()
    fail()
    expect((await answering).status).toBe(502)
  })
})

describe('an engine whose computing process is dead, and whose server still answers', () => {
  /** Answers with an error, as the engine's middleware marks it. */
  const answerDead =
    (status: number, answered: () => unknown = () => {}): Answer =>
    (_, response) => {
      response.writeHead(status, { 'x-trainyard-engine-dead': 'true' }).end('{"error":{"message":"dead","code":500}}')
      answered()
    }
  const dies = 500
  const wasDead = 503

  test.each([{}, { stream: true }])('another engine answers the chats that it dies under, %o', async (more) => {
    const [asked, dying] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await listen(1, async (...args) => {
      asked.resolve()
      await dying.promise
      answerDead(dies)(...args)
    })
    await addEnginePod(target(1))
    const answering = chat(more)
    await asked.promise
    await listen(2, reply('second'))
    await addEnginePod(target(2))
    dying.resolve()
    const response = await answering
    expect(response.headers.get('x-trainyard-engine-dead')).toBeNull()
    expect(await readContent(response)).toBe('second')
  })

  test('a chat is held, however often it meets the dead engine, until another is Ready', async () => {
    let count = 0
    await listen(
      1,
      answerDead(wasDead, () => count++),
    )
    await addEnginePod(target(1))
    const answering = chat()
    await eventually(() => expect(count).toBeGreaterThan(3), 60_000, 20)
    await listen(2, reply('second'))
    await addEnginePod(target(2))
    expect(await readContent(await answering)).toBe('second')
  })

  test('a chat that kills one engine after the other is an error', async () => {
    let count = 0
    await listen(
      1,
      answerDead(dies, () => count++),
    )
    await addEnginePod(target(1))
    const response = await chat()
    expect([response.status, response.headers.get('x-trainyard-engine-dead'), count]).toEqual([503, null, 3])
  })
})

describe('a client that leaves', () => {
  test.each([
    ['before the first byte', false],
    ['in the middle of a stream', true],
  ])('%s: the connection to the engine is closed within 50 ms', async (_, hasBegun) => {
    let asked = Promise.withResolvers<{ closed: Promise<unknown> }>()
    const silent: Answer = (_incoming, response) => asked.resolve({ closed: once(response, 'close') })
    await listen(1, hasBegun ? stream((begun) => asked.resolve(begun)) : silent)
    await addEnginePod(target(1))
    const measureClose = async () => {
      asked = Promise.withResolvers()
      const sent = request(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
      sent.on('error', () => {}).end(JSON.stringify({ model, stream: hasBegun, messages }))
      const { closed } = await asked.promise
      if (hasBegun) await once(sent, 'response')
      const since = performance.now()
      sent.destroy()
      await closed
      return performance.now() - since
    }
    const took: number[] = []
    for (let times = 0; times < 5; times++) took.push(await measureClose())
    console.info(`the connection was closed ${took.map((ms) => ms.toFixed(1)).join(', ')} ms after its client had left`)
    // Other programs of the machine may delay some of them.
    expect(Math.min(...took)).toBeLessThan(50)
  })
})

test('when all engines are busy, entities are served by their weights', async () => {
  const [light, heavy] = ['light', 'heavy'].map((name) => `${name}-${randomUUID()}`) as [string, string]
  await setLimits(database.pool, heavy, { weight: 3 })
  const keys = { light: await addKey(database.pool, light, 'read'), heavy: await addKey(database.pool, heavy, 'read') }
  const order: string[] = []
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  await listen(1, async (incoming, response, body) => {
    const name = /light|heavy/.exec(body)?.[0] ?? 'none'
    order.push(name)
    response.setHeader('x-trainyard-max-requests', '1')
    if (order.length === 3) started.resolve()
    if (order.length > 1) await gate.promise
    await reply(name)(incoming, response, body)
  })
  await addEnginePod(target(1))
  await chat()
  const ask = (name: 'light' | 'heavy') => chat({ messages: [{ role: 'user', content: name }] }, { bearer: keys[name] })
  const first = [ask('light'), ask('light')]
  await started.promise
  const flood = Array.from({ length: 24 }, () => ask('light'))
  const others = Array.from({ length: 6 }, () => ask('heavy'))
  const all = first.length + flood.length + others.length
  await eventually(async () => expect(await countEngineDemand(database.pool, namespace, model)).toBe(all), 60_000)
  // Of two places, an entity with three quarters of the weights has one at once.
  expect(order.slice(3)).toEqual(['heavy'])
  gate.resolve()
  const statuses = new Set((await Promise.all([...first, ...flood, ...others])).map(({ status }) => status))
  expect([...statuses]).toEqual([200])
  expect(order.slice(3, 13).filter((name) => name === 'heavy').length).toBeGreaterThanOrEqual(6)
})

test('SIGTERM interrupts no stream, and answers held requests after half of the time to drain', async () => {
  const drainSeconds = 8
  const own = await startOwnProcess(drainSeconds)
  try {
    const begun = Promise.withResolvers<Stream>()
    await listen(1, stream(begun.resolve))
    await addEnginePod(target(1))
    const streaming = await chat({ stream: true }, { url: own.url })
    const running = await begun.promise
    await stack.kubectl('-n', namespace, 'delete', 'pods', '--all', '--force', '--wait=false')
    await eventually(async () => {
      const waiting = chat({}, { url: own.url, signal: AbortSignal.timeout(500) })
      await expect(waiting).rejects.toThrow('aborted')
    })
    const held = chat({}, { url: own.url })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const exited = own.stop()
    const since = performance.now()
    const answer = await held
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '5',
      expect.objectContaining({ detail: expect.stringContaining('shutting down') as string }),
    ])
    const waitedMs = performance.now() - since
    expect(waitedMs).toBeGreaterThan((drainSeconds / 2) * 1_000 - 100)
    expect(waitedMs).toBeLessThan(drainSeconds * 1_000)
    const late = request(own.url, { agent: false }).end()
    await expect(once(late, 'response')).rejects.toThrow('ECONNREFUSED')
    running.write('last')
    running.end()
    expect(await streaming.text()).toMatch(/first[^]*last[^]*\[DONE\]/)
    expect(await exited).toBe(0)
  } finally {
    await own.remove()
  }
})

test('a request that is held when SIGTERM comes gets its answer from an engine that comes then', async () => {
  const own = await startOwnProcess()
  try {
    const held = chat({}, { url: own.url })
    await eventually(async () => expect(await countEngineDemand(database.pool, namespace, model)).toBe(1))
    const exited = own.stop()
    await listen(1, reply())
    await addEnginePod(target(1))
    expect((await held).status).toBe(200)
    expect(await exited).toBe(0)
  } finally {
    await own.remove()
  }
})

describe('what engines have loaded', () => {
  const address = `${entity}/tests/loaded`
  let checkpointId: string

  beforeAll(async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, last_step)
       VALUES ($1, 'tests', 'loaded', $2, $3, 'loaded', 1) RETURNING id`,
      [entity, model, namespace],
    )
    checkpointId = randomUUID()
    await database.pool.query(
      `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics) VALUES ($1, $2, 1, 'u', 'd', '{}')`,
      [checkpointId, rows[0]!.id],
    )
  })

  const report = (podName: string, error: string | null) =>
    recordLoad(database.pool, { podName, podUid: podName, containerStart: '' }, { checkpointId, error })

  /** Sends six chats with different prefixes to the model. Returns the engines that answered. */
  async function askSix(): Promise<Set<string | undefined>> {
    const answered = new Set<string | undefined>()
    for (let index = 0; index < 6; index++) {
      const prompt = [{ role: 'user', content: `${randomUUID()} ${index}` }]
      answered.add(await readContent(await chat({ model: address, messages: prompt })))
    }
    return answered
  }

  test('reaches the gateway within a second: it prefers the pod that has the adapter, from the first chat', async () => {
    for (const number of [1, 2, 3]) {
      await listen(number, reply(`${number}`))
      await addEnginePod(target(number))
    }
    await eventually(async () => expect(new Set(await askEight()).size).toBeGreaterThan(1))
    await report('engine-1', 'it does not fit')
    await report('engine-3', null)
    await delay(1_000)
    expect(await askSix()).toEqual(new Set(['3']))
  })

  test('a model that is asked is in use, and so is a step of it', async () => {
    await eventually(async () => {
      const { rows } = await database.pool.query(
        `SELECT checkpoint_id AS id FROM training.adapter_uses WHERE asked_at > now() - interval '1 minute'`,
      )
      expect(rows).toEqual([{ id: checkpointId }])
    })
  })
})
