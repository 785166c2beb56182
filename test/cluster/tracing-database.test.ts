import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { migrate } from '../../db/migrate.ts'
import { createTracePool } from '../../db/pool.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { createLogger } from '../../lib/log.ts'
import { eraseAll, type ErasureDeps } from '../../operator/erasure/erase.ts'
import { Tenants } from '../../operator/tenants.ts'
import { KubeClient } from '../../lib/kube/client.ts'
import { loadKubeAccess } from '../../lib/kube/access.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { noImages } from '../support/operator-process.ts'
import { openSeverableProxy, type SeverableProxy } from '../support/severable-proxy.ts'
import { useServices } from '../support/services.ts'
import { TrainingRows } from '../support/training-rows.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const log = createLogger('test', 'silent')
const tables: Record<string, string> = { files_removed_at: 'models', finished_at: 'erasures' }
let main: TestDatabase
let traces: TestDatabase
let way: SeverableProxy
let wayUrl: string
let server: ServedApi
let key: string

beforeAll(async () => {
  main = await createEmptyDatabase()
  traces = await createEmptyDatabase()
  await migrate(main.databaseUrl, log)
  const url = new URL(traces.databaseUrl)
  way = await openSeverableProxy({ host: url.hostname, port: Number(url.port) })
  url.host = `127.0.0.1:${way.port}`
  server = await serveApi(stack, main.databaseUrl, { TRACING_DATABASE_URL: url.href })
  wayUrl = url.href
  key = await addKey(main.pool, 'team')
})
afterAll(async () => {
  await server?.remove()
  await way?.close()
  await main?.drop()
  await traces?.drop()
})

const send = (path: string, body: object) => post(server.url + path, key, body)
/** The projects of the entity, with what is told about their traces. */
const listProjects = async () => {
  const headers = { authorization: `Bearer ${key}` }
  const { has_all_traces, data } = (await (await fetch(`${server.url}/v1/preview/projects`, { headers })).json()) as {
    has_all_traces: boolean
    data: { name: string; models: number; has_traces: boolean | null }[]
  }
  return {
    has_all_traces,
    data: data.map(({ name, models, has_traces }) => ({ name, models, has_traces })),
  }
}
const listSchemas = async ({ pool }: TestDatabase) => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname IN ('auth', 'training', 'tracing') ORDER BY 1",
  )
  return rows.map(({ name }) => name)
}

test('traces can have a database of their own', async () => {
  const [id, startedAt] = [newId(), '2026-11-21T10:00:00.000000Z']
  const start = { project_id: 'team/p', id, trace_id: newId(), op_name: 'op', started_at: startedAt }
  // The process answers before it has migrated that database.
  await eventually(async () => {
    const response = await send('/call/start', { start: { ...start, attributes: {}, inputs: {} } })
    expect(response.status).toBe(200)
  })
  const found = (await (await send('/call/read', { project_id: 'team/p', id })).json()) as { call: object }
  expect(found.call).toMatchObject({ id, started_at: startedAt })
  expect(await listSchemas(main)).toEqual(['auth', 'training'])
  expect(await listSchemas(traces)).toEqual(['tracing'])
})

test('while it is unavailable, everything else works', async () => {
  await new TrainingRows(main.pool, 'team').addModel('trained')
  way.cut()
  const answer = await send('/calls/query_stats', { project_id: 'team/p' })
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { reason: 'The database is unavailable. Send this request again later.' },
  ])
  const models = await fetch(`${server.url}/v1/preview/models`, { headers: { authorization: `Bearer ${key}` } })
  expect(models.status).toBe(200)
  expect(await listProjects()).toEqual({
    has_all_traces: false,
    data: [{ name: 'trained', models: 1, has_traces: null }],
  })
  way.mend()
  await eventually(async () =>
    expect(await listProjects()).toEqual({
      has_all_traces: true,
      data: [
        { name: 'p', models: 0, has_traces: true },
        { name: 'trained', models: 1, has_traces: false },
      ],
    }),
  )
  expect((await send('/calls/query_stats', { project_id: 'team/p' })).status).toBe(200)
})

test('the operator leads without it, and migrates it when it becomes available', async () => {
  const empty = await createEmptyDatabase()
  const url = new URL(empty.databaseUrl)
  const late = await openSeverableProxy({ host: url.hostname, port: Number(url.port) })
  late.cut()
  url.host = `127.0.0.1:${late.port}`
  const [namespace, port] = [`operator-${randomUUID().slice(0, 8)}`, await findFreePort()]
  await createNamespace(stack, namespace)
  // Another installation has its own store.
  const artifacts = await mkdtemp(join(tmpdir(), 'operator-'))
  const operator = spawn(process.execPath, ['operator/main.ts'], {
    env: {
      TRAINYARD_HOST: '127.0.0.1',
      TRAINYARD_PORT: String(port),
      DATABASE_URL: main.databaseUrl,
      TRACING_DATABASE_URL: url.href,
      TRAINYARD_ARTIFACTS: artifacts,
      TRAINYARD_ARTIFACTS_VOLUME: '{"emptyDir":{}}',
      TRAINYARD_NAMESPACE: namespace,
      TRAINYARD_POD_NAME: 'operator',
      TRAINYARD_ENGINE_KEY: 'none',
      TRAINYARD_IMAGES: noImages,
      KUBECONFIG: stack.kubeconfig,
      LOG_LEVEL: 'fatal',
    },
    stdio: 'inherit',
  })
  const exited = once(operator, 'exit')
  try {
    await eventually(async () => {
      const health = await (await fetch(`http://127.0.0.1:${port}/health`)).json()
      expect(health).toMatchObject({ status: 'ok', leading: true })
    })
    late.mend()
    await eventually(async () => expect(await listSchemas(empty)).toEqual(['tracing']))
  } finally {
    operator.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)
    await late.close()
    await empty.drop()
    await removeNamespace(stack, namespace)
    await rm(artifacts, { recursive: true })
  }
})

test('an erasure removes models while it is unavailable, and ends when it is back', async () => {
  const entity = `team-${randomUUID()}`
  const model = await new TrainingRows(main.pool, entity).addModel()
  await main.pool.query('UPDATE training.models SET deleted_at = now() WHERE id = $1', [model])
  await main.pool.query(
    `INSERT INTO training.erasures (id, entity, key_id, requested_at) VALUES ($1, $2, $1, now() + interval '1 second')`,
    [randomUUID(), entity],
  )
  const client = new KubeClient(loadKubeAccess({ KUBECONFIG: stack.kubeconfig }), { userAgent: 'test' })
  const tracing = createTracePool(wayUrl, log, 1)
  const nothing = { get: () => undefined, list: () => [] }
  const artifacts = new FolderStore(stack.artifacts)
  const seen = { baseModels: nothing, trainingJobs: nothing, pods: nothing, tenants: new Tenants('trainyard', []) }
  const deps: ErasureDeps = { client, pool: main.pool, tracing, log, artifacts, engineKeys: [], ...seen }
  const read = async (column: string) =>
    (await main.pool.query(`SELECT ${column} AS done FROM training.${tables[column]!} WHERE entity = $1`, [entity]))
      .rows
  way.cut()
  await eraseAll(deps, 0)
  expect(await read('files_removed_at')).toEqual([{ done: expect.any(Date) }])
  expect(await read('finished_at')).toEqual([{ done: null }])
  way.mend()
  await eventually(async () => {
    await eraseAll(deps, 0)
    expect(await read('finished_at')).toEqual([{ done: expect.any(Date) }])
  })
  client.close()
  await tracing.end()
})
