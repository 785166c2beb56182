import { expect, test } from 'vitest'
import { makeJobFacts } from '../test/support/job-objects.ts'
import { buildJobSpec, buildModel, buildTrainingJob, extractJobFacts, type JobSpecFacts } from './manifests.ts'

const finalizers = ['trainyard.dev/operator']
const id = '0d9a3f0e-8f64-4f0a-9d0e-4a3c1c1f5b11'

const model = {
  id,
  entity: 'team',
  project: 'proj',
  name: 'Agent',
  namespace: 'ns',
  crName: 'agent-4a3c1c1f5b11',
  baseModelCrName: 'base',
}

const labels = {
  'trainyard.dev/id': id,
  'trainyard.dev/entity': 'team',
  'trainyard.dev/project': 'proj',
  'trainyard.dev/model': 'Agent',
  'trainyard.dev/base-model': 'base',
}

test('the Model resource of a row', () => {
  expect(buildModel(model)).toEqual({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'Model',
    metadata: { name: 'agent-4a3c1c1f5b11', namespace: 'ns', labels, finalizers },
    spec: { entity: 'team', project: 'proj', name: 'Agent', baseModelRef: { name: 'base' } },
  })
})

test('a resource that is made again says what was set with kubectl', () => {
  const { spec } = buildModel({ ...model, deletionPolicy: 'Delete', keepLoaded: true, resourceAliases: { prod: 3 } })
  expect(spec).toMatchObject({ deletionPolicy: 'Delete', keepLoaded: true, aliases: { prod: 3 } })
  const job = { ...makeJobFacts({}), id, namespace: 'ns', crName: 'a', modelCrName: 'a', model, retryOf: null }
  expect(buildTrainingJob({ ...job, keyId: null, retryLimit: 2 }).spec.retry).toEqual({ limit: 2 })
  expect(buildTrainingJob({ ...job, keyId: null }).spec.ttlSecondsAfterFinished).toBeUndefined()
})

test('the TrainingJob resource of a row has the given settings in camelCase, and no others', () => {
  const facts = makeJobFacts({
    inputUri: 'artifact:///payloads/team/abc.json',
    inputDigest: 'abc',
    config: { kimi_k2_tau: 0.5, importance_sampling_level: 'token' },
  })
  const job = { ...facts, id, namespace: 'ns', crName: 'agent-4a3c1c1f5b11', modelCrName: 'agent-0', model, keyId: id }
  const retried = buildTrainingJob({ ...job, retryOf: 'old' })
  expect(retried.metadata.labels).toEqual({ ...labels, 'trainyard.dev/retry-of': 'old' })
  expect(buildTrainingJob({ ...job, retryOf: null })).toEqual({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'TrainingJob',
    metadata: { name: 'agent-4a3c1c1f5b11', namespace: 'ns', labels, finalizers },
    spec: {
      modelRef: { name: 'agent-0' },
      method: 'RL',
      inputRef: { uri: 'artifact:///payloads/team/abc.json', digest: 'abc' },
      config: { kimiK2Tau: 0.5, importanceSamplingLevel: 'token' },
      mode: 'Warm',
      ttlSecondsAfterFinished: 3600,
    },
  })
})

test.each<[string, JobSpecFacts]>([
  ['deadlines', makeJobFacts({ startDeadlineSeconds: 60, activeDeadlineSeconds: 3600 })],
  ['pods of its own', makeJobFacts({ mode: 'Dedicated', suspend: true, queueName: 'gpus', priorityClassName: 'high' })],
  ['a priority', makeJobFacts({ priority: -5 })],
  ['RL', makeJobFacts({ config: { kimi_k2_tau: 0.5 } })],
  ['SFT, its input not fetched yet', makeJobFacts({ method: 'SFT', inputUri: 'https://a/b', inputDigest: null })],
])('a spec has all facts of the row of its job: %s', (_, facts) => {
  expect(extractJobFacts(buildJobSpec({ ...facts, modelCrName: 'agent-0' }), 'Dedicated')).toEqual(facts)
})
