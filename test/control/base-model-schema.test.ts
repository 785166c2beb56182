import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createNamespace } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()

const describeBaseModel = (namespace: string, spec: object = {}) => ({
  apiVersion: 'trainyard.dev/v1alpha1',
  kind: 'BaseModel',
  metadata: { name: 'schema', namespace },
  spec: { names: ['schema'], source: { path: 'models/none' }, ...spec },
})

test('without an operator, kubectl says what a BaseModel waits for', async () => {
  const namespace = `schema-${randomUUID().slice(0, 8)}`
  await createNamespace(stack, namespace)
  onTestFinished(async () => {
    await stack.kubectl('delete', 'namespace', namespace, '--wait=false')
  })
  await stack.apply(describeBaseModel(namespace))
  expect(await stack.kubectl('get', 'bm', '-n', namespace)).toContain('WaitingForOperator')
})

test('the key of engines cannot be set in their environment', async () => {
  const env = (name: string) => ({ engine: { env: [{ name, value: 'x' }] } })
  const apply = (name: string) => stack.apply(describeBaseModel('trainyard', env(name)), '--dry-run=server')
  await expect(apply('VLLM_API_KEY')).rejects.toThrow('VLLM_API_KEY comes from the Secret trainyard-secrets')
  await apply('VLLM_LOGGING_LEVEL')
})
