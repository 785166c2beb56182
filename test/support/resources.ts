import { afterAll, beforeAll } from 'vitest'
import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import type { Stack } from './stack.ts'

/** A base model without pods, as somebody applies it. */
export function describeBaseModel(namespace: string, name: string, spec: Partial<BaseModel['spec']> = {}): BaseModel {
  const without = { engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }
  const defaults = { names: [name], source: { path: 'models/none' }, ...without }
  return { apiVersion, kind: 'BaseModel', metadata: { name, namespace }, spec: { ...defaults, ...spec } }
}

/** A model of the base model `base`. */
export function describeModel(namespace: string, name: string, spec: Partial<Model['spec']> = {}): Model {
  const defaults = { entity: 'team', project: 'tests', name, baseModelRef: { name: 'base' } }
  return { apiVersion, kind: 'Model', metadata: { name, namespace }, spec: { ...defaults, ...spec } }
}

/** A job of the model of the same name. */
export function describeJob(namespace: string, name: string, spec: Partial<TrainingJob['spec']> = {}): TrainingJob {
  const inputRef = { uri: 'artifact:///payloads/team/a.json', digest: '0'.repeat(64) }
  const defaults = { modelRef: { name }, method: 'RL' as const, inputRef }
  return { apiVersion, kind: 'TrainingJob', metadata: { name, namespace }, spec: { ...defaults, ...spec } }
}

/**
 * A base model for one test file, without pods. Claims of other tests do not get its jobs, and it gets none of theirs.
 */
export function useBaseModel(stack: Stack, name: string): string {
  const baseModel = `${name}/base`
  beforeAll(async () => {
    await stack.apply(describeBaseModel('trainyard', `${name}-base`, { names: [baseModel] }))
  })
  afterAll(async () => {
    await stack.kubectl('delete', `basemodels.trainyard.dev/${name}-base`, '-n', 'trainyard')
  })
  return baseModel
}
