import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Model, TrainingJob } from '../../crds/generated.ts'
import { labelValue } from '../../crds/model-labels.ts'
import { apiVersion } from '../../crds/names.ts'
import { eventually } from '../support/eventually.ts'
import { useBaseModel } from '../support/resources.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const baseModel = useBaseModel(stack, 'selectors')
const namespace = 'trainyard'
const name = `sel-${randomUUID().slice(0, 8)}`
const longProject = `p${'x'.repeat(90)}`
const models = 'models.trainyard.dev'

const model: Model = {
  apiVersion,
  kind: 'Model',
  metadata: { name, namespace, labels: { 'trainyard.dev/project': 'set-by-gitops' } },
  spec: { entity: name, project: longProject, name: 'Email_1', baseModelRef: { name: 'selectors-base' } },
}
const job: TrainingJob = {
  apiVersion,
  kind: 'TrainingJob',
  metadata: { name, namespace },
  spec: {
    modelRef: { name },
    method: 'RL',
    inputRef: { uri: `artifact:///payloads/${name}/a.json`, digest: '0'.repeat(64) },
  },
}

const list = async (kind: string, ...selection: string[]) => {
  const found = await stack.kubectl('get', kind, '-n', namespace, ...selection, '-o', 'name')
  return found.split('\n').filter((line) => line !== '')
}
const readLabels = async (kind: string, resource: string) => {
  const json = await stack.kubectl('get', kind, resource, '-n', namespace, '-o', 'json')
  return (JSON.parse(json) as Model).metadata.labels
}

beforeAll(async () => {
  await stack.apply(model)
  await stack.apply(job)
  await eventually(async () =>
    expect(await list('tj', '--field-selector', `spec.modelRef.name=${name},status.phase=Queued`)).toHaveLength(1),
  )
})
afterAll(async () => {
  await stack.kubectl('delete', '-n', namespace, `tj/${name}`, `${models}/${name}`)
})

test('resources from kubectl get labels by which they are found; a label that somebody else has set stays', async () => {
  const known = {
    'trainyard.dev/entity': name,
    'trainyard.dev/model': 'Email_1',
    'trainyard.dev/base-model': 'selectors-base',
  }
  await eventually(async () => {
    expect(await readLabels(models, name)).toMatchObject({ ...known, 'trainyard.dev/project': 'set-by-gitops' })
    expect(await readLabels('tj', name)).toMatchObject({ ...known, 'trainyard.dev/project': labelValue(longProject) })
  })
  expect(await list('tj', '-l', `trainyard.dev/entity=${name}`)).toEqual([`trainingjob.trainyard.dev/${name}`])
})

test('applying the same manifest again removes no label, and the operator rewrites nothing', async () => {
  const readVersion = () =>
    stack.kubectl('get', models, name, '-n', namespace, '-o', 'jsonpath={.metadata.resourceVersion}')
  await eventually(async () => expect(await readLabels(models, name)).toHaveProperty(['trainyard.dev/entity'], name))
  const before = await readVersion()
  await stack.apply(model)
  expect(await readLabels(models, name)).toHaveProperty(['trainyard.dev/entity'], name)
  expect(await readVersion()).toBe(before)
})

test('resources from REST have the labels from the start', async () => {
  const { id, entity } = await rest.call<{ id: string; entity: string }>('POST', '/v1/preview/models', {
    name,
    base_model: baseModel,
  })
  const [found] = await list(models, '-l', `trainyard.dev/id=${id},trainyard.dev/project=default`)
  expect(await readLabels(models, found!.split('/')[1]!)).toMatchObject({
    'trainyard.dev/entity': labelValue(entity),
    'trainyard.dev/model': name,
    'trainyard.dev/base-model': 'selectors-base',
  })
  await rest.call('DELETE', `/v1/preview/models/${id}`)
})

test.each([
  [models, `spec.entity=${name},spec.project=${longProject},spec.name=Email_1,spec.baseModelRef.name=selectors-base`],
  [models, `spec.entity=${name},status.reason=EngineNotReady`],
  ['tj', `spec.modelRef.name=${name},spec.method=RL,status.phase=Queued,status.reason=WaitingForTrainer`],
  ['bm', 'metadata.name=selectors-base,status.reason=EngineAtZero'],
])('%s are selected by the fields %s', async (kind, fields) => {
  await eventually(async () => expect(await list(kind, '--field-selector', fields)).toHaveLength(1))
})

test('kubectl get -o wide says the base, the entity and the message', async () => {
  const show = (kind: string, resource: string) =>
    stack.kubectl('get', kind, resource, '-n', namespace, '-o', 'wide').then((text) => text.replaceAll(/ {2,}/g, '|'))
  await eventually(async () => expect(await show('tj', name)).toContain(`|selectors-base|${name}|`))
  expect(await show('tj', name)).toContain('Waits for a trainer of selectors/base')
  expect(await show(models, name)).toContain('No engine of selectors/base is ready.')
  expect(await show('bm', 'selectors-base')).toContain('spec.engine.replicas is 0: no engine serves chats.')
})
