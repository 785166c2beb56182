import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, startApiServer } from '../support/api-server.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { checkOutEarlierCode } from '../support/earlier-code.ts'
import { eventually } from '../support/eventually.ts'
import { createNamespace, startOperator } from '../support/operator-process.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken, startStatusServer } from '../support/status-server.ts'

const stack = useStack()
const log = createLogger('test', 'silent')
const namespace = `upgrade-${randomUUID().slice(0, 8)}`
const baseModel = `${namespace}/base`
const repository = path.resolve(import.meta.dirname, '../..')
const message = { role: 'user', content: 'a' }
const groups = [
  {
    trajectories: [1, 0].map((reward) => ({
      messages_and_choices: [message, { ...message, role: 'assistant' }],
      reward,
    })),
  },
]

/** The control plane of a checkout, beside others on the same database. */
interface ControlPlane {
  rest: Rest
  statusUrl: string
  stop: () => Promise<void>
}

async function start(root: string, databaseUrl: string, key: string): Promise<ControlPlane> {
  const wrap = ([node, ...args]: [string, ...string[]]): [string, ...string[]] => {
    const main = args.pop()!
    return [node, ...args, path.join(root, main)]
  }
  const server = await startApiServer(stack, databaseUrl, { TRAINYARD_NAMESPACE: namespace }, wrap)
  onTestFinished(server.remove)
  const status = await startStatusServer(stack, databaseUrl, { namespace, root })
  onTestFinished(status.remove)
  const operator = await startOperator(stack, { databaseUrl, namespace, root })
  onTestFinished(operator.remove)
  return {
    rest: createRest({ ...stack, url: server.url, baseModel }, key),
    statusUrl: status.url,
    stop: async () => void (await Promise.all([server.stop(), status.stop(), operator.stop()])),
  }
}

/** The main job, with a trainer that computes nothing: a model, a job, a claim, reports, a checkpoint, and lists. */
async function runMainJob({ rest, statusUrl }: ControlPlane, token: string): Promise<void> {
  const post = async (url: string, body: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(statusUrl + url, { method: 'POST', headers, body: JSON.stringify(body) })
    expect([url, response.status]).toEqual([url, 200])
    return (await response.json()) as Record<string, string>
  }
  const model = await eventually(() => rest.createModel())
  const jobId = await rest.startJob(model.id, groups)
  const claimed = await post('/v1/claims', { base_model: baseModel, process_id: randomUUID(), wait_seconds: 20 })
  expect(claimed.id).toBe(jobId)
  const attempt = `/v1/jobs/${jobId}/attempts/1`
  await post(`${attempt}/events`, { events: [{ seq: 0, type: 'training_started', data: { num_sequences: 2 } }] })
  await post(`${attempt}/heartbeat`, {})
  const uri = `artifact:///checkpoints/${claimed.checkpoint_id}`
  await post(`${attempt}/checkpoint`, { uri, digest: 'ab'.repeat(32), metrics: { loss: 1 } })
  const events = await rest.waitForEnd(jobId)
  expect(events.map(({ type }) => type)).toEqual(['training_started', 'training_ended'])
  expect((await rest.listCheckpoints(model.id)).map(({ step }) => step)).toContain(1)
  const ids = async (list: string) => (await rest.listAll<{ id: string }>(list)).map(({ id }) => id)
  expect(await ids('/v1/preview/models')).toContain(model.id)
  expect(await ids('/v1/preview/training-jobs')).toContain(jobId)
}

test('the code before the newest migration works on the new schema, also after a rollback', async ({ skip }) => {
  const shallow = 'the clone is shallow: it has no commit before the newest migration (git fetch --unshallow)'
  const earlier = (await checkOutEarlierCode()) ?? skip(shallow)
  onTestFinished(earlier.remove)
  const { pool, databaseUrl, drop } = await createEmptyDatabase()
  onTestFinished(drop)
  await createNamespace(stack, namespace)
  await stack.apply({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: { name: 'base', namespace },
    spec: {
      names: [baseModel],
      source: { path: 'models/none' },
      engine: { replicas: 0 },
      trainer: { warm: { min: 0 } },
    },
  })
  const isMigrated = async () => {
    const { rows } = await pool.query<{ name: string }>(
      'SELECT name FROM migrations UNION SELECT name FROM tracing_migrations',
    )
    return rows.some(({ name }) => name === path.parse(earlier.migration).name)
  }
  // The earlier code migrates the empty database; the key is made in its schema.
  const first = await startApiServer(stack, databaseUrl, {}, ([node]) => [
    node,
    path.join(earlier.root, 'apiserver/main.ts'),
  ])
  await eventually(async () => expect((await fetch(`${first.url}/v1/ready`)).status).toBe(200))
  await first.remove()
  expect(await isMigrated()).toBe(false)
  const key = await addKey(pool, 'acme', 'admin')

  const before = await start(earlier.root, databaseUrl, key)
  const token = await makeTrainerToken(stack, namespace)
  await runMainJob(before, token)
  await migrate(databaseUrl, log)
  await migrate(databaseUrl, log, 'tracing')
  expect(await isMigrated()).toBe(true)
  await runMainJob(before, token)
  await before.stop()

  const today = await start(repository, databaseUrl, key)
  await runMainJob(today, token)
  await today.stop()

  const rolledBack = await start(earlier.root, databaseUrl, key)
  await runMainJob(rolledBack, token)
})
