import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, type RunningApiServer, startApiServer } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { makeOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts'
import { useServices } from '../support/services.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'
import { type Kept, planWrites, projectId, type TraceWrite } from '../support/trace-writes.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const writers = 4
type Victim = 'apiserver' | 'postgres'
const victims: Victim[] = ['apiserver', 'postgres', 'apiserver', 'postgres', 'postgres', 'apiserver']
// A few rounds of writes take this long.
const maxWaitMs = 400
const maxOutageMs = 300_000

let postgres: OwnPostgres
let server: RunningApiServer
let key: string

beforeAll(async () => {
  postgres = await makeOwnPostgres()
  await postgres.start()
  const log = createLogger('test', 'silent')
  await migrate(postgres.databaseUrl, log)
  const pool = createPool(postgres.databaseUrl, log, 1)
  key = await addKey(pool, 'team')
  await pool.end()
  server = await startApiServer(stack, postgres.databaseUrl)
})
afterAll(async () => {
  await server?.remove()
  await postgres?.remove()
})

/** The acknowledged writes, and how often a write was repeated. */
interface Log {
  writes: { write: TraceWrite; answer: unknown }[]
  retries: number
}

test('killed processes lose no acknowledged write and create nothing twice', { timeout: 900_000 }, async () => {
  const log: Log = { writes: [], retries: 0 }
  const stop = new AbortController()
  const writing = Array.from({ length: writers }, (_, writer) => writeOn(`w${writer}`, log, stop.signal))
  const killing = killAll(log).finally(() => stop.abort())
  // Both promises end by themselves, so that no process is started after the test.
  for (const outcome of await Promise.allSettled([...writing, killing]))
    if (outcome.status === 'rejected') throw outcome.reason
  expect(log.retries).toBeGreaterThan(victims.length)
  await expectEverything(createTraceClient(server.url, key), log)
})

async function killAll(log: Log): Promise<void> {
  for (const victim of victims) await killWithin(victim, log)
}

/** Kills one of the two at a random moment of the writing, and starts it again. */
async function killWithin(victim: Victim, log: Log): Promise<void> {
  const before = log.writes.length
  await eventually(() => expect(log.writes.length).toBeGreaterThan(before + 10), 60_000, 20)
  await delay(Math.random() * maxWaitMs)
  if (victim === 'postgres') {
    await postgres.kill()
    await postgres.start()
    // The process is the same. It has only lost its connections.
    expect(await fetch(`${server.url}/v1/health`)).toMatchObject({ ok: true })
  } else {
    process.kill(server.pid, 'SIGKILL')
    const gone = server
    server = await startApiServer(stack, postgres.databaseUrl)
    await gone.remove()
  }
}

/** Writes rounds in a loop. Each write is repeated until it is acknowledged. */
async function writeOn(name: string, log: Log, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    for (const write of planWrites(`${name}-${round}`)) log.writes.push({ write, answer: await send(write, log) })
  }
}

async function send(write: TraceWrite, log: Log): Promise<unknown> {
  const deadlineMs = performance.now() + maxOutageMs
  for (;;) {
    const answer = await trySend(write)
    if (answer?.status === 200) return answer.body
    // Only answers that clients retry are allowed in between.
    if (answer) expect(answer).toMatchObject({ status: 503 })
    else expect(performance.now()).toBeLessThan(deadlineMs)
    log.retries++
    await delay(50)
  }
}

/** Undefined when the server does not answer. */
async function trySend({ path, body, headers = {} }: TraceWrite) {
  try {
    const response = await post(server.url + path, key, body(), { headers })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as unknown }
  } catch {
    return undefined
  }
}

async function expectEverything(client: TraceClient, { writes }: Log): Promise<void> {
  const kept = (kind: Kept) => writes.flatMap(({ write }) => write.keeps[kind] ?? [])
  expectSame(await readCalls(client), kept('calls'))
  expectSame(await readFeedback(client), kept('feedback'))
  expectSame(await readObjects(client), kept('objects'))
  for (const { write, answer } of writes) {
    const { digest } = answer as { digest: string }
    for (const [, rows] of write.keeps.tables ?? []) expect(await readTable(client, digest)).toBe(rows)
    for (const [, bytes] of write.keeps.files ?? []) {
      expect(await client.text('/file/content', { project_id: projectId, digest })).toBe(bytes)
    }
  }
}

/** Compares without order, but with duplicates. Long texts are shortened for the message. */
function expectSame(found: [string, string][], expected: [string, string][]): void {
  const inOrder = (list: [string, string][]) =>
    list.map(([name, value]) => `${name} ${value.slice(0, 100)} ${value.length}`).toSorted()
  expect(inOrder(found)).toEqual(inOrder(expected))
}

async function readCalls(client: TraceClient): Promise<[string, string][]> {
  const calls = await client.text('/calls/stream_query', { project_id: projectId })
  const read = calls
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; inputs: { input: string }; output: unknown })
  return read.map(({ id, inputs, output }) => {
    const value = typeof inputs.input === 'string' ? inputs.input : ''
    return [id, JSON.stringify({ input: value, output: output ?? null })]
  })
}

async function readFeedback(client: TraceClient): Promise<[string, string][]> {
  const { result } = await client.call<{ result: { id: string; payload: { mark: string } }[] }>('/feedback/query', {
    project_id: projectId,
    limit: 100_000,
  })
  return result.map(({ id, payload }) => [id, payload.mark])
}

async function readObjects(client: TraceClient): Promise<[string, string][]> {
  const { objs } = await client.call<{ objs: { object_id: string; val: { mark: string }; version_index: number }[] }>(
    '/objs/query',
    { project_id: projectId },
  )
  expect(new Set(objs.map(({ version_index }) => version_index))).toEqual(new Set([0]))
  return objs.map(({ object_id, val }) => [object_id, val.mark])
}

async function readTable(client: TraceClient, digest: string): Promise<string> {
  const { rows } = await client.call<{ rows: { val: unknown }[] }>('/table/query', { project_id: projectId, digest })
  return JSON.stringify(rows.map(({ val }) => val))
}
