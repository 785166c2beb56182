import { execFile } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Agent, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeEntityLimits, type SetLimits } from '../../db/accounts/limits.ts'
import { waitForLeases } from '../../db/changes.ts'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { isRunning, listChildren } from '../support/child-processes.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeEngine } from '../support/fake-engine.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const namespace = `processes-${randomUUID()}`
const model = 'held'
const logFile = path.join(tmpdir(), `${namespace}.log`)
let database: TestDatabase
let server: RunningApiServer
let engine: Server
let entity: string
let key: string
/** Streams that engines have begun and not ended. */
const open = new Set<ServerResponse>()

const begin = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"${model}","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`

function beginStream(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(begin)
  open.add(response)
  response.once('close', () => open.delete(response))
}

const endStreams = () => {
  for (const response of open) response.end('data: [DONE]\n\n')
}

const start = () =>
  startApiServer(
    stack,
    database.databaseUrl,
    { TRAINYARD_NAMESPACE: namespace, TRAINYARD_PROCESSES: '2', LOG_LEVEL: 'info' },
    (command) => ['sh', '-c', `exec "$@" >>${logFile}`, 'sh', ...command],
  )

beforeAll(async () => {
  database = await createTestDatabase()
  await createNamespace(stack, namespace)
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const place = { kubectl: stack.kubectl, namespace, pool: database.pool, address, baseModel: model }
  engine = await startFakeEngine(place, beginStream)
  server = await start()
  await waitForListeners()
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(database.pool, entity)
})
afterEach(endStreams)
afterAll(async () => {
  await server?.remove()
  engine?.closeAllConnections()
  engine?.close()
  await removeNamespace(stack, namespace)
  await database?.drop()
  await rm(logFile, { force: true })
})

interface Line {
  pid: number
  msg: string
  requestId?: string
}

const readLog = () =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
/** The processes that run and have begun to listen. */
const listeners = () => {
  const children = listChildren(server.pid)
  return readLog().flatMap(({ pid, msg }) => (msg === 'listening' && children.includes(pid) ? [pid] : []))
}
const waitForListeners = () => eventually(() => expect(listeners()).toHaveLength(2), 60_000, 50)

const limit = async (limits: Partial<SetLimits>) => {
  await changeEntityLimits(database.pool, entity, limits)
  await waitForLeases(database.pool)
}

interface Answer {
  status: number
  /** The whole body, when it has ended. */
  body: Promise<string>
}

/** Sends a request on its own connection. The processes accept connections in turn. */
function send(target: string, body?: object): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': entity }
  const options = { agent: new Agent(), headers, method: body ? 'POST' : 'GET' }
  const sent = request(server.url + target, options, (response) => {
    const ended = text(response)
    ended.catch(() => {})
    resolve({ status: response.statusCode!, body: ended })
  })
  sent.once('error', reject)
  sent.end(body && JSON.stringify(body))
  return promise
}

const chat = () =>
  send('/v1/chat/completions', { model, stream: true, messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 })
const race = async (chats: number) => {
  const answers = await Promise.all(Array.from({ length: chats }, chat))
  const [begun, rejected] = [200, 429].map((expected) => answers.filter(({ status }) => status === expected))
  expect(begun!.length + rejected!.length).toBe(chats)
  return { begun: begun!, rejected: rejected! }
}
const end = async (begun: readonly Answer[]) => {
  endStreams()
  for (const { body } of begun) expect(await body).toContain('data: [DONE]')
}

describe('two processes of a replica', () => {
  test('accept equal numbers of connections', async () => {
    for (let times = 0; times < 8; times++) expect((await send('/v1/models')).status).toBe(200)
    const answering = await eventually(() => {
      const lines = readLog().filter(({ requestId }) => requestId === entity)
      expect(lines).toHaveLength(8)
      return lines.map(({ pid }) => pid)
    })
    const expected = listChildren(server.pid).flatMap((pid) => [pid, pid, pid, pid])
    const byId = (a: number, b: number) => a - b
    expect(answering.toSorted(byId)).toEqual(expected.toSorted(byId))
  })

  test('share one limit of concurrent chats, repeatedly, and report how many there are', async () => {
    await limit({ concurrentStreams: 5 })
    for (let times = 0; times < 5; times++) {
      const { begun, rejected } = await race(40)
      expect(begun).toHaveLength(5)
      expect(await rejected[0]!.body).toContain(
        `${entity} has 5 concurrent chats, and its limit concurrent_streams is 5`,
      )
      expect(open.size).toBe(5)
      await end(begun)
    }
  })

  test('reject no chat while the other process has an unused permit', async () => {
    await limit({ concurrentStreams: 1 })
    for (let times = 0; times < 40; times++) {
      const { begun, rejected } = await race(1)
      expect(rejected).toEqual([])
      await end(begun)
    }
  })

  test('apply a limit that is lowered or raised', async () => {
    await limit({ concurrentStreams: 6 })
    const { begun } = await race(6)
    await limit({ concurrentStreams: 2 })
    expect((await race(4)).begun).toEqual([])
    await end(begun)
    const fewer = await race(10)
    expect(fewer.begun).toHaveLength(2)
    await limit({ concurrentStreams: 4 })
    const more = await race(10)
    expect(more.begun).toHaveLength(2)
    await end([...fewer.begun, ...more.begun])
  })

  test('count requests per minute together', async () => {
    await limit({ requestsPerMinute: 7 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('/v1/models')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
  })

  test('release the permits of a killed process; the other continues, and a new one is started', async () => {
    await limit({ concurrentStreams: 6 })
    const { begun } = await race(6)
    const [killed, other] = listChildren(server.pid)
    let broken = 0
    for (const { body } of begun) body.catch(() => broken++)
    process.kill(killed!, 'SIGKILL')
    await eventually(() => expect([broken > 0, broken + open.size]).toEqual([true, 6]), 60_000, 20)
    const again = await race(20)
    expect(again.begun).toHaveLength(broken)
    expect(open.size).toBe(6)
    await end(again.begun)
    const outcomes = await Promise.allSettled(begun.map(({ body }) => body))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(broken)
    await waitForListeners()
    expect(listeners()).toContain(other)
    expect(listeners()).not.toContain(killed)
    const { begun: last } = await race(20)
    expect(last).toHaveLength(6)
    await end(last)
  })

  test('end together, after the streams of both have ended', async () => {
    const { begun } = await race(6)
    const children = listChildren(server.pid)
    const exit = server.stop()
    await eventually(async () => await expect(chat()).rejects.toThrow('ECONNREFUSED'), 60_000, 20)
    expect(children.filter(isRunning)).toEqual(children)
    await end(begun)
    expect(await exit).toBe(0)
    expect(children.filter(isRunning)).toEqual([])
    await server.remove()
  })
})

test('no process outlives a supervisor that is killed', async () => {
  server = await start()
  await waitForListeners()
  const children = listChildren(server.pid)
  await chat()
  process.kill(server.pid, 'SIGKILL')
  await eventually(() => expect(children.filter(isRunning)).toEqual([]), 60_000, 20)
})

test('a supervisor whose processes cannot start exits, as a single process does', async () => {
  const env = { TRAINYARD_PROCESSES: '2', TRAINYARD_HOST: '127.0.0.1' }
  const failed = await promisify(execFile)(process.execPath, ['apiserver/main.ts'], { env }).catch(
    (error: { code: number; stderr: string }) => error,
  )
  expect(failed).toMatchObject({ code: 1 })
  expect(failed.stderr).toContain('TRAINYARD_NAMESPACE is not set')
})
