import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setPaused } from '../../db/accounts/pauses.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeEngine, randomAddress } from '../support/fake-engine.ts'
import { findFreePort } from '../support/free-port.ts'
import { listNames, listSeries, readMetrics, sendRaw, valueOf } from '../support/metrics.ts'
import { listDefaultMetrics, listMetrics, metricTables } from '../../tools/metric-tables.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const namespace = `metrics-${randomUUID().slice(0, 8)}`
const model = 'counted'
const entity = `team-${randomUUID()}`
const requests = 'trainyard_http_requests_total'
const database = useTestDatabase()
let engine: Server
let key: string

beforeAll(async () => {
  await createNamespace(stack, namespace)
  const address = randomAddress()
  const target = { kubectl: stack.kubectl, namespace, pool: database.pool, address, baseModel: model }
  engine = await startFakeEngine(target, (_request, response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model, choices }))
  })
  key = await addKey(database.pool, entity)
})
afterAll(async () => {
  engine?.closeAllConnections()
  engine?.close()
  await removeNamespace(stack, namespace)
})

interface MeteredServer extends RunningApiServer {
  metricsPort: number
}

async function start(): Promise<MeteredServer> {
  const metricsPort = await findFreePort()
  const env = {
    TRAINYARD_NAMESPACE: namespace,
    TRAINYARD_METRICS_PORT: String(metricsPort),
    TRAINYARD_HOLD_SECONDS: '20',
  }
  return { ...(await startApiServer(stack, database.databaseUrl, env)), metricsPort }
}

function sendChat({ url }: RunningApiServer, name: string, signal: AbortSignal): Promise<Response> {
  const body = { model: name, messages: [{ role: 'user', content: 'Hi.' }] }
  return post(`${url}/v1/chat/completions`, key, body, { signal })
}

async function chat(server: RunningApiServer): Promise<number> {
  const response = await sendChat(server, model, new AbortController().signal)
  await response.text()
  return response.status
}

const chats = { group: 'inference', method: 'POST', route: '/v1/chat/completions', status: '200' }

describe('the metrics of an apiserver', () => {
  let server: MeteredServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server?.remove())
  const read = () => readMetrics(server.metricsPort)

  test('are those of its tables, and each name is listed', async () => {
    const tables = ['apiserver and status server', 'apiserver', 'apiserver, operator and status server']
    const declared = tables.flatMap((parts) => listMetrics(metricTables[parts]!))
    const names = [...declared, ...(await listDefaultMetrics())].map(({ name }) => name)
    expect(listNames(await read()).toSorted()).toEqual(names.toSorted())
  })

  test('count chats by route and status, with their durations and engines', async () => {
    expect(await chat(server)).toBe(200)
    const metrics = await read()
    expect(valueOf(metrics, requests, chats)).toBe(1)
    expect(valueOf(metrics, 'trainyard_http_request_duration_seconds_count', { route: chats.route })).toBe(1)
    expect(valueOf(metrics, 'trainyard_engines_usable', { base_model: model })).toBe(1)
    expect(valueOf(metrics, 'trainyard_engine_requests_in_flight', { base_model: model })).toBe(0)
    expect(valueOf(metrics, 'trainyard_http_requests_in_flight', { group: 'inference' })).toBe(0)
  })

  test('show the requests that are held for a base model without engines', async () => {
    await database.pool.query(
      `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('empty/base', '{empty/base}', $1, 'empty')`,
      [namespace],
    )
    const waiting = async (reason: string) =>
      valueOf(await read(), 'trainyard_engine_requests_waiting', { base_model: 'empty', reason })
    const leaving = new AbortController()
    const held = sendChat(server, 'empty/base', leaving.signal)
    await eventually(async () => expect([await waiting('held'), await waiting('busy')]).toEqual([1, 0]))
    expect(valueOf(await read(), 'trainyard_http_requests_in_flight', { group: 'inference' })).toBe(1)
    leaving.abort()
    await expect(held).rejects.toThrow()
    await eventually(async () => expect(valueOf(await read(), requests, { ...chats, status: '499' })).toBe(1))
    expect(await waiting('held')).toBe(0)
  })

  test('count listening connections that are opened again', async () => {
    const name = 'trainyard_database_listen_reconnects_total'
    expect(valueOf(await read(), name)).toBe(0)
    server.postgres.cutOnly('trainyard listens to changes')
    server.postgres.mend()
    await eventually(async () => expect(valueOf(await read(), name)).toBeGreaterThan(0))
  })

  test('name the template of a path, and no id', async () => {
    const id = randomUUID()
    const headers = { authorization: `Bearer ${key}` }
    await fetch(`${server.url}/v1/preview/training-jobs/${id}`, { headers })
    await fetch(`${server.url}/v1/models/some/long/name`, { headers })
    await fetch(`${server.url}/v1/health`)
    const metrics = await read()
    const route = '/v1/preview/training-jobs/{training_job_id}'
    expect(valueOf(metrics, requests, { group: 'training', method: 'GET', route, status: '404' })).toBe(1)
    expect(valueOf(metrics, requests, { route: '/v1/models/{model}', status: '404' })).toBe(1)
    expect(valueOf(metrics, requests, { route: '/v1/health', group: 'shared', status: '200' })).toBeGreaterThan(0)
    for (const secret of [id, entity, key]) expect(metrics).not.toContain(secret)
  })

  test('get no labels from clients: unknown paths and methods share a route', async () => {
    const methods = ['GET', 'PATCH', 'PROPFIND', 'TRACE']
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const path = ['/v1/', '/traces/', '/v1/preview/models/', '/x'][index % 4]! + randomUUID()
        return sendRaw(server.url, methods[Math.floor(index / 4) % 4]!, path)
      }),
    )
    const routes = new Set(listSeries(await read(), requests).map((line) => /method="(\w+)",route="(.*?)"/.exec(line)!))
    const unknown = [...routes].filter(([, method, route]) => route === 'unknown' || method === 'unknown')
    expect(unknown.every(([, method, route]) => method === 'unknown' && route === 'unknown')).toBe(true)
    expect(routes.size).toBeLessThan(20)
  })

  test.each([
    ['POST', '/metrics'],
    ['GET', '/'],
    ['GET', '/v1/health'],
    ['GET', '/metricsx'],
  ])('are answered to nothing else: %s %s is a 404', async (method, path) => {
    expect(await sendRaw(`http://127.0.0.1:${server.metricsPort}`, method, path)).toBe(404)
  })

  test('are not at the public address', async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(404)
  })
})

test('a pool counts how often work had to wait for a connection', async () => {
  const pool = createPool(database.databaseUrl, createLogger('test', 'silent'), 1)
  await pool.query('SELECT 1')
  expect(pool.waits).toBe(0)
  await Promise.all(['SELECT 1', 'SELECT 2', 'SELECT 3'].map((text) => pool.query(text)))
  expect(pool.waits).toBe(2)
  await pool.end()
})

describe('the metrics of an operator', () => {
  let operator: RunningOperator
  let port: number
  beforeAll(async () => {
    port = await findFreePort()
    const env = { TRAINYARD_METRICS_PORT: String(port) }
    operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace, env })
  })
  afterAll(() => operator?.remove())

  test('are those of its tables', async () => {
    const tables = ['operator', 'apiserver, operator and status server']
    const declared = tables.flatMap((parts) => listMetrics(metricTables[parts]!))
    const names = [...declared, ...(await listDefaultMetrics())].map(({ name }) => name)
    await eventually(async () => expect(listNames(await readMetrics(port)).toSorted()).toEqual(names.toSorted()))
  })

  test('show that it leads, what it reconciles and which jobs there are', async () => {
    await eventually(async () => expect(valueOf(await readMetrics(port), 'trainyard_leader')).toBe(1))
    const baseModel = {
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name: 'idle', namespace },
      spec: { names: ['idle/base'], source: { path: '/none' }, engine: { replicas: 0 }, trainer: { warm: { min: 0 } } },
    }
    await stack.apply(baseModel)
    await eventually(async () => {
      const metrics = await readMetrics(port)
      const controller = 'base-models'
      expect(valueOf(metrics, 'trainyard_reconciles_total', { controller })).toBeGreaterThan(0)
      expect(valueOf(metrics, 'trainyard_queue_wait_seconds_count', { controller })).toBeGreaterThan(0)
      expect(listSeries(metrics, 'trainyard_jobs')).toContain('trainyard_jobs{base_model="idle",state="Queued"} 0')
      expect(listSeries(metrics, 'trainyard_watch_restarts_total')).toHaveLength(9)
    })
    await database.pool.query(`DELETE FROM training.base_models WHERE name = 'idle/base'`)
  })

  test('count the pauses in force, of all entities and of one, by whom they are', async () => {
    const pauses = [
      { entity: 'one', byAdministrator: true },
      { entity: 'one', byAdministrator: false },
      { entity: 'two', byAdministrator: false },
      { entity: '*', byAdministrator: true },
    ]
    const readPauses = async () => listSeries(await readMetrics(port), 'trainyard_queue_pauses')
    const write = (...counts: number[]) =>
      ['all', 'administrator', 'entity'].map(
        (pause, index) => `trainyard_queue_pauses{pause="${pause}"} ${counts[index]}`,
      )
    await eventually(async () => expect(await readPauses()).toEqual(write(0, 0, 0)))
    const set = async (isPaused: boolean) => {
      for (const pause of pauses) await setPaused(database.pool, { ...pause, actor: 'command' }, isPaused)
    }
    await set(true)
    await eventually(async () => expect(await readPauses()).toEqual(write(1, 1, 2)))
    await set(false)
    await eventually(async () => expect(await readPauses()).toEqual(write(0, 0, 0)))
  })
})
