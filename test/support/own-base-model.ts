import { afterAll, beforeAll } from 'vitest'
import type { Stack } from './stack.ts'

/**
 * A base model for one test file, without pods. Claims of other tests do not get its jobs, and it gets none of theirs.
 */
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
