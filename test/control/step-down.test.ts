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

const stack = useStack()

async function makePlace(prefix: string) {
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
  const { namespace, database } = await makePlace('hanging-engine')
  const baseModel = `hanging-${randomUUID().slice(0, 8)}`
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const { server, asked } = hang()
  server.listen(enginePort, address)
  await once(server, 'listening')
  await addEnginePod({ kubectl: stack.kubectl, namespace, baseModel, address })
  await stack.apply({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: { name: baseModel, namespace },
    spec: {
      names: [baseModel],
      source: { path: 'models/none' },
      engine: { replicas: 0 },
      trainer: { warm: { min: 0 } },
    },
  })
  const jobId = await addTrainedJob(new ModelRows(database.pool, stack.artifacts), baseModel)
  const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  onTestFinished(operator.remove)
  await eventually(() => expect(asked).toContain('/v1/completions'))
  expect(await measureStepDown(namespace, operator.stop)).toBeLessThan(3_000)
  const { rows } = await database.pool.query('SELECT state FROM training.jobs WHERE id = $1', [jobId])
  expect(rows).toEqual([{ state: 'Publishing' }])
})

test('an operator gives up its Lease within three seconds while its store does not answer', async () => {
  const { namespace, database } = await makePlace('hanging-store')
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
