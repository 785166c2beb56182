import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { certificatesOf } from '../../local/stack/programs/certificates.ts'
import { layoutOf } from '../../local/stack/layout.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { describeBaseModel } from '../support/resources.ts'

const stack = useStack()

// No node has GPUs, so that no node reports about the pods: only the test does.
const nowhere = { limits: { 'nvidia.com/gpu': 1 } }

/** An operator with a namespace of its own, and a base model there that wants one trainer. */
async function operate(prepare: (namespace: string) => Promise<unknown> = async () => {}) {
  const namespace = `trainers-${randomUUID().slice(0, 8)}`
  const database = await createTestDatabase()
  await createNamespace(stack, namespace)
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
  await prepare(namespace)
  const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  onTestFinished(async () => {
    await operator.remove()
    await removeNamespace(stack, namespace)
    await database.drop()
  })
  await stack.apply(describeBaseModel(namespace, 'tiny', { trainer: { resources: nowhere } }))
  return { namespace, pool: database.pool }
}

const readJson = async <T>(...args: string[]) => JSON.parse(await stack.kubectl(...args, '-o', 'json')) as T
const readStatus = async (namespace: string) => (await readJson<BaseModel>('get', 'bm', 'tiny', '-n', namespace)).status

/** Waits for a trainer that has not failed yet. */
function waitForTrainer(namespace: string): Promise<Pod> {
  return eventually(
    async () => {
      const { items } = await readJson<{ items: Pod[] }>('get', 'pods', '-n', namespace)
      const alive = items.filter(({ status, metadata }) => status?.phase !== 'Failed' && !metadata.deletionTimestamp)
      expect(alive).toHaveLength(1)
      return alive[0]!
    },
    60_000,
    50,
  )
}

async function failPod(namespace: string, { metadata }: Pod): Promise<void> {
  const status = { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no devices', containerStatuses: [] }
  const args = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
  await stack.kubectl('patch', 'pod', metadata.name ?? '', '-n', namespace, ...args)
}

test('what keeps the trainers from starting is recorded for those whose jobs wait', async () => {
  const { pool } = await operate()
  await eventually(async () => {
    const { rows } = await pool.query('SELECT trainer_trouble FROM training.base_models')
    expect(rows).toEqual([{ trainer_trouble: 'InsufficientGPU' }])
  })
})

test('a trainer that its node does not take comes back later each time, and the BaseModel says why', async () => {
  const { namespace } = await operate()
  const first = await waitForTrainer(namespace)
  await failPod(namespace, first)
  const second = await waitForTrainer(namespace)
  expect(second.metadata.uid).not.toBe(first.metadata.uid)
  expect(second.metadata.annotations).toMatchObject({ 'trainyard.dev/failures': '1' })
  await failPod(namespace, second)
  const failedAt = performance.now()
  await eventually(async () => {
    const status = await readStatus(namespace)
    expect(status?.trainers?.lastFailure).toMatchObject({ count: 2, reason: 'UnexpectedAdmissionError' })
    expect(status?.trainers?.lastFailure?.message).toContain('no devices')
  })
  const third = await waitForTrainer(namespace)
  // Two seconds from its creation, less the part of a second that its time leaves out, and what the test took.
  const createdMs = Date.parse(second.metadata.creationTimestamp!)
  expect(Date.parse(third.metadata.creationTimestamp!) - createdMs).toBeGreaterThanOrEqual(2_000)
  expect(performance.now() - failedAt).toBeLessThan(60_000)
  expect(third.metadata.annotations).toMatchObject({
    'trainyard.dev/failures': '2',
    'trainyard.dev/failure-reason': 'UnexpectedAdmissionError',
  })
})

/** Rejects pods, in other words each time. Returns how many it has rejected. */
async function rejectPods(namespace: string): Promise<() => number> {
  const { authority, apiserver, apiserverKey } = certificatesOf(layoutOf(stack.stateFolder))
  let count = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    count++
    const review = (await json(request)) as { request: { uid: string } }
    const status = { message: `request ${randomUUID()} is not allowed`, code: 403 }
    const head = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...head, response: { uid: review.request.uid, allowed: false, status } }))
  }
  const certificate = { cert: readFileSync(apiserver), key: readFileSync(apiserverKey) }
  const server = createServer(certificate, (request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const name = `reject-${namespace}`
  onTestFinished(async () => {
    await stack.kubectl('delete', 'validatingwebhookconfiguration', name)
    server.closeAllConnections()
    server.close()
  })
  await stack.apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'reject.trainyard.test',
        clientConfig: {
          url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
          caBundle: readFileSync(authority).toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
      },
    ],
  })
  return () => count
}

test('a refusal that words itself differently each time is repeated with growing delays', async () => {
  let count = () => 0
  const { namespace } = await operate(async (target) => {
    count = await rejectPods(target)
  })
  await eventually(async () => {
    const status = await readStatus(namespace)
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready?.message).toMatch(/request .* is not allowed/)
  })
  const before = count()
  await delay(3_000)
  // The waits begin at 0.1 s and double.
  expect(count() - before).toBeLessThan(7)
})
