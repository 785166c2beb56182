import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startApiServer } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startOperator } from '../support/operator-process.ts'
import { startS3Server } from '../support/s3-server.ts'
import { useStack } from '../support/stack.ts'
import { startStatusServer } from '../support/status-server.ts'
import { nameDatabase, runOnServer } from '../support/template-database.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()

const read = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const statusOf = async (url: string) => (await read(url)).status

test('an apiserver is ready only when its database is migrated', async () => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const server = await startApiServer(stack, nameDatabase(stack.databaseUrl, name))
  onTestFinished(async () => {
    await server.remove()
    await runOnServer(stack.databaseUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })
  expect(await statusOf(`${server.url}/v1/health`)).toBe(200)
  expect(await read(`${server.url}/v1/ready`)).toEqual({
    status: 503,
    body: { status: 'starting', detail: 'The database is not migrated yet.' },
  })
  await runOnServer(stack.databaseUrl, `CREATE DATABASE ${name}`)
  await eventually(async () => expect(await statusOf(`${server.url}/v1/ready`)).toBe(200))
  expect(await statusOf(`${server.url}/v1/preview/models`)).toBe(401)
})

test('a status server is ready only when its database is migrated, and lives before', async () => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const server = await startStatusServer(stack, nameDatabase(stack.databaseUrl, name))
  onTestFinished(async () => {
    await server.remove()
    await runOnServer(stack.databaseUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  })
  const notReady = { status: 'ok', not_ready: 'the database is not migrated yet' }
  expect(await read(`${server.url}/ready`)).toEqual({ status: 503, body: notReady })
  expect(await statusOf(`${server.url}/health`)).toBe(200)
  await runOnServer(stack.databaseUrl, `CREATE DATABASE ${name}`)
  await eventually(async () => expect(await statusOf(`${server.url}/ready`)).toBe(200))
  expect(await server.stop()).toBe(0)
})

test('a status server that waits for its database ends at once', async () => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const server = await startStatusServer(stack, nameDatabase(stack.databaseUrl, name))
  onTestFinished(server.remove)
  expect(await server.stop()).toBe(0)
})

test('an apiserver whose connection breaks while it migrates tries again', async () => {
  const { databaseUrl, pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  const lock = await pool.connect()
  await lock.query('BEGIN')
  await lock.query('LOCK TABLE public.migrations')
  const server = await startApiServer(stack, databaseUrl)
  onTestFinished(server.remove)
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await eventually(async () => expect((await pool.query(waiting)).rowCount).toBe(1))
  server.postgres.cut()
  await lock.query('ROLLBACK')
  lock.release()
  server.postgres.mend()
  await eventually(async () => expect(await statusOf(`${server.url}/v1/ready`)).toBe(200))
  expect(await server.stop()).toBe(0)
})

test('apiserver and operator wait for the key to their bucket, and say which file of the Secret is missing', async () => {
  const s3 = await startS3Server()
  const keyFolder = await mkdtemp(path.join(tmpdir(), 's3-key-'))
  const { databaseUrl, drop } = await createTestDatabase()
  const namespace = `ready-${randomUUID().slice(0, 8)}`
  await createNamespace(stack, namespace)
  const artifacts = `s3://${s3.bucket}/a`
  const env = { TRAINYARD_S3_ENDPOINT: s3.endpoint, TRAINYARD_S3_KEY_FOLDER: keyFolder, LOG_LEVEL: 'fatal' }
  const server = await startApiServer({ ...stack, artifacts }, databaseUrl, env)
  const operator = await startOperator(stack, {
    databaseUrl,
    namespace,
    env: { ...env, TRAINYARD_ARTIFACTS: artifacts },
  })
  onTestFinished(async () => {
    await Promise.all([server.remove(), operator.remove()])
    await removeNamespace(stack, namespace)
    await Promise.all([drop(), s3.stop(), rm(keyFolder, { recursive: true })])
  })
  const sentence = expect.stringContaining('has no key access-key-id') as string
  const waiting = { status: 503, body: { status: 'starting', detail: sentence } }
  await eventually(async () => expect(await read(`${server.url}/v1/ready`)).toEqual(waiting))
  await eventually(async () =>
    expect(await read(`${operator.url}/ready`)).toMatchObject({ status: 503, body: { not_ready: sentence } }),
  )
  for (const url of [`${server.url}/v1/health`, `${operator.url}/health`]) expect(await statusOf(url)).toBe(200)
  await writeFile(path.join(keyFolder, 'access-key-id'), s3.credentials.AWS_ACCESS_KEY_ID)
  await writeFile(path.join(keyFolder, 'secret-access-key'), s3.credentials.AWS_SECRET_ACCESS_KEY)
  for (const url of [`${server.url}/v1/ready`, `${operator.url}/ready`]) {
    await eventually(async () => expect(await statusOf(url)).toBe(200))
  }
})

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']

/** A kubeconfig of a service account that may do everything in its namespace, except with Models. */
async function restrictAccount(namespace: string, folder: string): Promise<string> {
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'operator', namespace } })
  await allow(namespace, 'most', [
    'basemodels',
    'trainingjobs',
    'pods',
    'jobs',
    'deployments',
    'services',
    'poddisruptionbudgets',
    'leases',
    'events',
    'configmaps',
  ])
  const token = (await stack.kubectl('create', 'token', 'operator', '-n', namespace)).trim()
  const view = JSON.parse(await stack.kubectl('config', 'view', '--raw', '--flatten', '--minify', '-ojson')) as {
    clusters: { name: string }[]
    contexts: { context: { user: string } }[]
  }
  const users = [{ name: view.contexts[0]!.context.user, user: { token } }]
  const file = path.join(folder, 'kubeconfig')
  await writeFile(file, JSON.stringify({ ...view, users }))
  return file
}

async function allow(namespace: string, name: string, resources: string[]): Promise<void> {
  const metadata = { name, namespace }
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [{ apiGroups: ['*'], resources, verbs: everything }]
  await stack.apply({ apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata, rules })
  await stack.apply({
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace }],
  })
}

async function makeEnvironment(prefix: string) {
  const namespace = `${prefix}-${randomUUID().slice(0, 8)}`
  const folder = await mkdtemp(path.join(tmpdir(), 'readiness-'))
  const database = await createTestDatabase()
  await createNamespace(stack, namespace)
  onTestFinished(async () => {
    await removeNamespace(stack, namespace)
    await database.drop()
    await rm(folder, { recursive: true })
  })
  return { namespace, folder, databaseUrl: database.databaseUrl }
}

test('an operator that cannot list a kind is not ready and names it; one that stands by is ready', async () => {
  const { namespace, folder, databaseUrl } = await makeEnvironment('readiness')
  const env = { KUBECONFIG: await restrictAccount(namespace, folder) }
  const leader = await startOperator(stack, { databaseUrl, namespace, env })
  onTestFinished(leader.remove)
  await eventually(async () => {
    const { status, body } = await read(`${leader.url}/ready`)
    expect({ status, body }).toMatchObject({ status: 503, body: { leading: false } })
    expect(body['not_ready']).toMatch(/^cannot list Model: GET .*\/models: 403 .*forbidden/)
  })
  const { status, body } = await read(`${leader.url}/health`)
  expect([status, body['not_ready']]).toEqual([200, expect.stringContaining('cannot list Model')])

  const standby = await startOperator(stack, { databaseUrl, namespace })
  onTestFinished(standby.remove)
  await eventually(async () => expect(await statusOf(`${standby.url}/ready`)).toBe(200))

  await allow(namespace, 'models', ['models'])
  await eventually(async () => {
    expect(await read(`${leader.url}/ready`)).toEqual({ status: 200, body: { status: 'ok', leading: true } })
  })
})
