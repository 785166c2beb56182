import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { enginePort } from '../../crds/engine-address.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { addEnginePod } from '../support/fake-engine.ts'
import { ModelRows } from '../support/model-rows.ts'
import { startOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import type { BaseModel } from '../../crds/generated.ts'
import { describeBaseModel } from '../support/resources.ts'

const stack = useStack()

async function makeEnvironment(prefix: string) {
  const namespace = `${prefix}-${randomUUID().slice(0, 8)}`
  const database = await createTestDatabase()
  await createNamespace(stack, namespace)
  onTestFinished(async () => {
    await removeNamespace(stack, namespace)
    await database.drop()
  })
  return { namespace, database }
}

/** A server that takes requests and never answers, and the requests that it has. */
function hang(): { server: Server; asked: string[] } {
  const asked: string[] = []
  const server = createServer((request) => asked.push(request.url ?? ''))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, asked }
}

/** Makes a base model without engines. */
async function applyBaseModel(
  namespace: string,
  name: string,
  trainer: NonNullable<BaseModel['spec']['trainer']>,
): Promise<void> {
  await stack.apply(describeBaseModel(namespace, name, { trainer }))
}

async function readHolder(namespace: string): Promise<string> {
  const path = 'jsonpath={.spec.holderIdentity}'
  return stack.kubectl('get', 'lease', 'trainyard-operator', '-n', namespace, '-o', path)
}

/** Stops an operator. Returns how long it held the Lease from then on. */
async function measureStepDown(namespace: string, stop: () => Promise<number | null>): Promise<number> {
  expect(await readHolder(namespace)).not.toBe('')
  const startedAt = performance.now()
  const stopped = stop()
  await eventually(async () => expect(await readHolder(namespace)).toBe(''), 60_000, 100)
  const tookMs = performance.now() - startedAt
  expect(await stopped).toBe(0)
  return tookMs
}

test('an operator gives up its Lease within three seconds while an engine hangs', async () => {
  const { namespace, database } = await makeEnvironment('hanging-engine')
  const baseModel = `hanging-${randomUUID().slice(0, 8)}`
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const { server, asked } = hang()
  server.listen(enginePort, address)
  await once(server, 'listening')
  await addEnginePod({ kubectl: stack.kubectl, namespace, baseModel, address })
  await applyBaseModel(namespace, baseModel, { warm: { min: 0 } })
  const jobId = await addTrainedJob(new ModelRows(database.pool, stack.artifacts), baseModel)
  const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  onTestFinished(operator.remove)
  await eventually(() => expect(asked).toContain('/v1/completions'))
  expect(await measureStepDown(namespace, operator.stop)).toBeLessThan(3_000)
  const { rows } = await database.pool.query('SELECT state FROM training.jobs WHERE id = $1', [jobId])
  expect(rows).toEqual([{ state: 'Publishing' }])
})

test('an operator gives up its Lease within three seconds while its store does not answer', async () => {
  const { namespace, database } = await makeEnvironment('hanging-store')
  const { server, asked } = hang()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const env = {
    TRAINYARD_ARTIFACTS: 's3://artifacts',
    TRAINYARD_S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: 'tests',
    AWS_SECRET_ACCESS_KEY: 'tests',
  }
  const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace, env })
  onTestFinished(operator.remove)
  await eventually(() => expect(asked).not.toEqual([]))
  await eventually(async () => expect(await readHolder(namespace)).not.toBe(''))
  expect(await measureStepDown(namespace, operator.stop)).toBeLessThan(3_000)
})

test('the second of two operators takes over: 20 s after a kill, 3 s after a SIGTERM; no pod is made twice', async () => {
  const { namespace, database } = await makeEnvironment('two-operators')
  const baseModel = `two-${randomUUID().slice(0, 8)}`
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
  // No node has GPUs, so that its trainers stay Pending.
  const trainer = { warm: { min: 2 }, resources: { limits: { 'nvidia.com/gpu': 1 } } }
  await applyBaseModel(namespace, baseModel, trainer)
  const start = async () => {
    const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
    onTestFinished(operator.remove)
    return { ...operator, name: `operator-${new URL(operator.url).port}` }
  }
  const isLeading = async (url: string) =>
    ((await (await fetch(`${url}/health`)).json()) as { leading: boolean }).leading
  const listPods = async () =>
    (await stack.kubectl('get', 'pods', '-n', namespace, '-o', 'jsonpath={.items[*].metadata.uid}')).split(' ').sort()

  const first = await start()
  await eventually(async () => expect(await isLeading(first.url)).toBe(true))
  const [second, third] = [await start(), await start()]
  const pods = await eventually(async () => {
    const found = await listPods()
    expect(found).toHaveLength(2)
    return found
  })
  // They wait for the Lease.
  for (const { url } of [second, third])
    await eventually(async () => expect((await fetch(`${url}/ready`)).status).toBe(200))

  const killedAt = performance.now()
  await first.remove()
  const next = await eventually(
    async () => {
      const leading = [await isLeading(second.url), await isLeading(third.url)]
      expect(leading).toContain(true)
      return leading[0] ? second : third
    },
    60_000,
    100,
  )
  expect(performance.now() - killedAt).toBeLessThan(20_000)

  const last = next === second ? third : second
  const stoppedAt = performance.now()
  const stopped = next.stop()
  await eventually(async () => expect(await readHolder(namespace)).toBe(last.name), 60_000, 50)
  expect(performance.now() - stoppedAt).toBeLessThan(3_000)
  expect(await stopped).toBe(0)
  await eventually(async () => expect(await isLeading(last.url)).toBe(true))
  expect(await listPods()).toEqual(pods)
})

async function addTrainedJob(rows: ModelRows, baseModel: string): Promise<string> {
  const { rows: made } = await rows.pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     VALUES ('team', 'p', 'm', $1, 'nowhere', 'm') RETURNING id`,
    [baseModel],
  )
  const jobId = await rows.addJob(made[0]!.id, 'Publishing')
  await rows.addCheckpoint(made[0]!.id, 1, { jobId })
  return jobId
}
