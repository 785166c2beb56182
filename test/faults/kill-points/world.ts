import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { Pool } from '../../../db/pool.ts'
import { loadKubeAccess } from '../../../lib/kube/access.ts'
import { KubeClient } from '../../../lib/kube/client.ts'
import { addKey } from '../../support/api-server.ts'
import { createBaseModel, startControlPlane } from '../../support/control-plane.ts'
import { createTestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stack } from '../../support/stack.ts'
import { makeTrainerToken } from '../../support/status-server.ts'
import { openReceiver, type Receiver } from '../../support/webhook-receiver.ts'
import { createPersistentClient, newKey } from './client.ts'
import { History } from './history.ts'
import { folderVariable } from './orders.ts'
import type { World } from './stories.ts'
import { pretendToTrain } from './trainer.ts'

const hook = new URL('hook.ts', import.meta.url).href

/** A control plane whose processes obey orders, with a trainer, and a webhook for all ends of jobs. */
export interface FragileWorld extends World {
  /** The folder of the orders. */
  orders: string
  pool: Pool
  receiver: Receiver
  artifacts: string
}

/** Starts all of it. It ends with the test. */
export async function openFragileWorld(stack: Stack): Promise<FragileWorld> {
  const [namespace, entity] = [`kill-${randomUUID().slice(0, 8)}`, 'killed']
  const baseModel = `${namespace}/base`
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const folder = await mkdtemp(path.join(tmpdir(), 'kill-points-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [orders, artifacts] = [path.join(folder, 'orders'), path.join(folder, 'artifacts')]
  await Promise.all([orders, artifacts].map((each) => mkdir(each)))
  const key = await addKey(database.pool, entity, 'admin')
  const receiver = await openReceiver()
  onTestFinished(receiver.close)
  const env = {
    NODE_OPTIONS: `--import=${hook}`,
    [folderVariable]: orders,
    TRAINYARD_ARTIFACTS: artifacts,
    TRAINYARD_WEBHOOK_HOSTS: 'http://127.0.0.1:*',
    TRAINYARD_PRIVATE_NETWORKS: '127.0.0.0/8',
  }
  const { databaseUrl } = database
  const settings = { databaseUrl, key, namespace, baseModel, env }
  await createBaseModel(stack, { namespace, baseModel })
  const plane = await startControlPlane(stack, settings)
  // First the operator has to know the base model.
  await eventually(() => plane.rest.createModel(), 120_000)
  const tokens = [await makeTrainerToken(stack, namespace), await makeTrainerToken(stack, namespace, 'trainer-1')]
  const history = new History()
  const ask = createPersistentClient(plane.restUrl, key, history)
  await ask('POST', '/v1/preview/webhooks', { body: { url: receiver.url }, idempotencyKey: newKey() })
  const kube = new KubeClient(loadKubeAccess({ KUBECONFIG: stack.kubeconfig }), { userAgent: 'test' })
  const stopping = new AbortController()
  const deps = { statusUrl: plane.statusUrl, baseModel, artifacts, history }
  const training = Promise.all(tokens.map((token) => pretendToTrain({ ...deps, token }, stopping.signal)))
  training.catch(() => {})
  onTestFinished(async () => {
    stopping.abort()
    await training
  })
  return {
    ask,
    kube,
    namespace,
    baseModel,
    entity,
    history,
    orders,
    artifacts,
    receiver,
    receiverUrl: receiver.url,
    pool: database.pool,
  }
}
