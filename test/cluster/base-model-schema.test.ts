import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()

const describeBaseModel = (namespace: string, spec: object = {}) => ({
  apiVersion: 'trainyard.dev/v1alpha1',
  kind: 'BaseModel',
  metadata: { name: 'schema', namespace },
  spec: { names: ['schema'], source: { path: 'models/none' }, ...spec },
})

test('while no operator watches their namespace, all resources say so, and where to read on', async () => {
  const namespace = `schema-${randomUUID().slice(0, 8)}`
  await createNamespace(stack, namespace)
  onTestFinished(async () => {
    await removeNamespace(stack, namespace)
  })
  await stack.apply(describeBaseModel(namespace))
  const apply = (kind: string, spec: object) =>
    stack.apply({ apiVersion: 'trainyard.dev/v1alpha1', kind, metadata: { name: 'schema', namespace }, spec })
  await apply('Model', { entity: 'e', project: 'p', name: 'm', baseModelRef: { name: 'schema' } })
  const inputRef = { uri: 'artifact:///payloads/e/a.json', digest: '0'.repeat(64) }
  await apply('TrainingJob', { modelRef: { name: 'schema' }, method: 'RL', inputRef })
  const watched = "its own namespace and those of the chart's value tenants, see docs/clusters.md."
  for (const [kind, where] of [
    ['bm', 'the BaseModels of its own namespace, see docs/base-models.md.'],
    ['models.trainyard.dev', watched],
    ['tj', watched],
  ] as const) {
    const read = (...format: string[]) => stack.kubectl('get', kind, 'schema', '-n', namespace, ...format)
    expect([kind, await read()]).toEqual([kind, expect.stringContaining('WaitingForOperator')])
    expect(await read('-o', 'jsonpath={.status.conditions[*].message}')).toBe(
      `No operator has seen it yet. Each watches ${where}`,
    )
  }
})

test('the key of engines cannot be set in their environment', async () => {
  const env = (name: string) => ({ engine: { env: [{ name, value: 'x' }] } })
  const apply = (name: string) => stack.apply(describeBaseModel('trainyard', env(name)), '--dry-run=server')
  await expect(apply('VLLM_API_KEY')).rejects.toThrow('VLLM_API_KEY comes from the Secret trainyard-secrets')
  await apply('VLLM_LOGGING_LEVEL')
})

test('a colocated base model has one container, with one engine, one trainer and at most one GPU', async () => {
  const apply = (spec: object) =>
    stack.apply(describeBaseModel('trainyard', { colocated: true, ...spec }), '--dry-run=server')
  const gpus = (count: number | string) => ({ engine: { resources: { limits: { 'nvidia.com/gpu': count } } } })
  await expect(apply({ engine: { replicas: 2 } })).rejects.toThrow('engine.replicas is at most 1')
  await expect(apply({ engine: { autoscaling: { min: 0, max: 1 } } })).rejects.toThrow(
    'engine.autoscaling cannot be given',
  )
  await expect(apply({ trainer: { warm: { min: 0 } } })).rejects.toThrow('a colocated base model has one trainer')
  await expect(apply({ trainer: { warm: { max: 2 } } })).rejects.toThrow('a colocated base model has one trainer')
  for (const trainer of [{ image: 'x' }, { gpus: 1 }, { resources: {} }, { serviceAccountName: 'x' }]) {
    await expect(apply({ trainer })).rejects.toThrow('a colocated base model has one container')
  }
  for (const count of [2, '2']) await expect(apply(gpus(count))).rejects.toThrow('at most one GPU')
  for (const count of [1, '1']) await apply({ ...gpus(count), trainer: { timeSharePercent: 30 } })
})
