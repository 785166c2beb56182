import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import type { Deployment, Pod } from '../../lib/kube/objects.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { randomAddress } from './fake-engine.ts'
import { startOperator, type RunningOperator } from './operator-process.ts'
import type { Stack } from './stack.ts'
import { createNamespace, removeNamespace } from './namespace.ts'

/** No node has it, so that no node runs the pods. A test says what becomes of them. */
export const nowhere = { limits: { 'trainyard.test/nothing': '1' } }

/** A namespace with an operator, and with the controllers of Kubernetes. */
export interface OperatedNamespace {
  namespace: string
  database: TestDatabase
  operator: RunningOperator
  /** Ends the operator, and starts one with other variables. */
  restart: (env: Record<string, string>) => Promise<void>
  applyBaseModel: (name: string, spec: BaseModel['spec']) => Promise<unknown>
  readBaseModel: (name: string) => Promise<BaseModel>
  readDeployment: (baseModel: string) => Promise<Deployment>
  /** The pods of a base model that are not being ended, the oldest first. */
  listPods: (baseModel: string, component: 'engine' | 'trainer') => Promise<Pod[]>
  /** Has Kubernetes call a pod Ready, at a loopback address. */
  setReady: (pod: Pod, address?: string) => Promise<unknown>
}

/** Operates a namespace until the test ends. */
export async function operateNamespace(stack: Stack, env: Record<string, string> = {}): Promise<OperatedNamespace> {
  const namespace = `scaled-${randomUUID().slice(0, 8)}`
  const database = await createTestDatabase()
  const { databaseUrl } = database
  await createNamespace(stack, namespace)
  for (const name of ['trainyard-engine', 'trainyard-trainer', 'trainyard-colocated']) {
    await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  }
  const read = async <T>(...args: string[]) =>
    JSON.parse(await stack.kubectl('-n', namespace, 'get', ...args, '-o', 'json')) as T
  const operated: OperatedNamespace = {
    namespace,
    database,
    operator: await startOperator(stack, { databaseUrl, namespace, env }),
    restart: async (more) => {
      await operated.operator.stop()
      await operated.operator.remove()
      operated.operator = await startOperator(stack, { databaseUrl, namespace, env: { ...env, ...more } })
    },
    applyBaseModel: (name, spec) => {
      const metadata = { name, namespace }
      return stack.apply({ apiVersion: 'trainyard.dev/v1alpha1', kind: 'BaseModel', metadata, spec })
    },
    readBaseModel: (name) => read<BaseModel>('bm', name),
    readDeployment: (baseModel) => read<Deployment>('deployment', `${baseModel}-engine`),
    listPods: async (baseModel, component) => {
      const selector = `trainyard.dev/base-model=${baseModel},trainyard.dev/component=${component}`
      const { items } = await read<{ items: Pod[] }>('pods', '-l', selector, '--sort-by=.metadata.creationTimestamp')
      return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    },
    setReady: ({ metadata }, address = randomAddress()) => {
      const conditions = [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'True' },
      ]
      const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions }
      const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
      return stack.kubectl('-n', namespace, 'patch', 'pod', metadata.name ?? '', ...patch)
    },
  }
  onTestFinished(async () => {
    await operated.operator.remove()
    await removeNamespace(stack, namespace)
    await database.drop()
  })
  return operated
}
