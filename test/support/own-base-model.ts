import { afterAll, beforeAll } from 'vitest'
import type { Stack } from './stack.ts'

/** A base model of a test file's own, without pods: nobody else claims its jobs, and no jobs of others are claimed. */
export function useBaseModel(stack: Stack, name: string): string {
  const baseModel = `${name}/base`
  beforeAll(async () => {
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name: `${name}-base`, namespace: 'trainyard' },
      spec: {
        names: [baseModel],
        source: { path: 'models/none' },
        engine: { replicas: 0 },
        trainer: { warm: { min: 0 } },
      },
    })
  })
  afterAll(async () => {
    await stack.kubectl('delete', `basemodels.trainyard.dev/${name}-base`, '-n', 'trainyard')
  })
  return baseModel
}
