import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { TrainingJob } from '../../../crds/generated.ts'
import { apiVersion } from '../../../crds/names.ts'
import { customPath } from '../../../crds/paths.ts'
import { deleteObject, readObject, createObject, type KubeObject } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { eventually } from '../../support/eventually.ts'
import { newKey, type Ask } from './client.ts'
import type { History } from './history.ts'

/** The service as its clients see it. */
export interface World {
  ask: Ask
  kube: KubeClient
  namespace: string
  baseModel: string
  entity: string
  history: History
  /** Where webhooks arrive. */
  receiverUrl: string
}

const path = '/v1/preview'
const message = { role: 'user', content: 'a' }
const waitMs = 480_000

interface Model {
  id: string
  project: string
}

async function makeModel({ ask, baseModel }: World, project = 'tests'): Promise<Model> {
  const body = { project, name: `model-${randomUUID()}`, base_model: baseModel }
  const { id } = (await ask('POST', `${path}/models`, { body, idempotencyKey: newKey() })).body
  return { id: id as string, project }
}

async function postJob({ ask, history }: World, { id: model, project }: Model): Promise<string> {
  const choice = { ...message, role: 'assistant', content: randomUUID() }
  const trajectories = [1, 0].map((reward) => ({ messages_and_choices: [message, choice], reward }))
  const body = { model_id: model, trajectory_groups: [{ trajectories }] }
  const { id } = (await ask('POST', `${path}/training-jobs`, { body, idempotencyKey: newKey() })).body
  history.jobs.push({ id: id as string, project })
  return id as string
}

const waitForState = ({ ask }: World, job: string, states: string[]) =>
  eventually(async () => {
    const { state } = (await ask('GET', `${path}/training-jobs/${job}`)).body
    expect([job, states]).toEqual([job, expect.arrayContaining([state])])
  }, waitMs)

async function train(world: World, project?: string): Promise<Model> {
  const model = await makeModel(world, project)
  await waitForState(world, await postJob(world, model), ['Succeeded'])
  return model
}

/** A model trains twice. */
async function trainTwice(world: World): Promise<void> {
  const model = await makeModel(world)
  const jobs = [await postJob(world, model), await postJob(world, model)]
  for (const job of jobs) await waitForState(world, job, ['Succeeded'])
}

async function cancel(world: World): Promise<void> {
  const job = await postJob(world, await makeModel(world))
  await world.ask('POST', `${path}/training-jobs/${job}/cancel`, { accept: [409] })
  await waitForState(world, job, ['Cancelled', 'Succeeded'])
}

async function deleteCheckpointAndModel(world: World): Promise<void> {
  const { ask } = world
  const model = await train(world)
  await postJob(world, model)
  await ask('DELETE', `${path}/models/${model.id}/checkpoints?steps=1`)
  await ask('DELETE', `${path}/models/${model.id}`)
  expect((await ask('GET', `${path}/models/${model.id}`, { accept: [404] })).status).toBe(404)
}

async function forkAndName(world: World): Promise<void> {
  const { ask } = world
  const { id: model, project } = await train(world)
  await ask('PUT', `${path}/models/${model}/aliases/best`, { body: { step: 1 } })
  const body = { name: `fork-${randomUUID()}` }
  const { id } = (await ask('POST', `${path}/models/${model}/fork`, { body, idempotencyKey: newKey() })).body
  await ask('DELETE', `${path}/models/${model}/aliases/best`)
  await waitForState(world, await postJob(world, { id: id as string, project }), ['Succeeded'])
}

const rows = `${JSON.stringify({ messages: [message, { role: 'assistant', content: 'b' }] })}\n`

async function trainOnUpload(world: World): Promise<void> {
  const { ask, entity, history } = world
  const name = `data-${randomUUID()}`
  await ask('PUT', `${path}/artifacts/${entity}/tests/${name}?check=sft`, { body: rows })
  const { id: model, project } = await makeModel(world)
  const body = { model_id: model, training_data_url: `wandb-artifact:///${entity}/tests/${name}` }
  const { id } = (await ask('POST', `${path}/sft-training-jobs`, { body, idempotencyKey: newKey() })).body
  history.jobs.push({ id: id as string, project })
  await waitForState(world, id as string, ['Succeeded'])
}

/** Resources that somebody applies and deletes with kubectl. */
async function useKubectl({ kube, namespace, entity, history }: World): Promise<void> {
  const name = `kubectl-${randomUUID()}`
  const make = (kind: 'Model' | 'TrainingJob', spec: object) =>
    createObject(kube, customPath(kind, namespace), {
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec,
    } as KubeObject)
  const read = () => readObject<TrainingJob>(kube, customPath('TrainingJob', namespace, name))
  await make('Model', { entity, project: 'kubectl', name, baseModelRef: { name: 'base' } })
  const inputRef = { uri: `artifact:///payloads/${entity}/a.json`, digest: '0'.repeat(64) }
  await make('TrainingJob', { modelRef: { name }, method: 'RL', inputRef })
  const job = await eventually(async () => {
    const found = await read()
    expect(found?.status?.id).toBeDefined()
    return found!
  }, waitMs)
  history.jobs.push({ id: job.status!.id!, project: 'kubectl' })
  await deleteObject(kube, customPath('TrainingJob', namespace, name), job.metadata.uid!)
  history.deletedResources.push(job.status!.id!)
  await eventually(async () => expect(await read()).toBeUndefined(), waitMs)
}

async function useKeysAndWebhooks({ ask, receiverUrl }: World): Promise<void> {
  const key = (await ask('POST', `${path}/keys`, { body: { name: 'one' }, idempotencyKey: newKey() })).body
  const webhook = await ask('POST', `${path}/webhooks`, { body: { url: receiverUrl }, idempotencyKey: newKey() })
  await ask('DELETE', `${path}/webhooks/${webhook.body['id'] as string}`, { accept: [404] })
  await ask('DELETE', `${path}/keys/${key['id'] as string}`)
}

async function eraseProject(world: World): Promise<void> {
  const project = `gone-${randomUUID()}`
  await train(world, project)
  const { ask, history } = world
  await ask('DELETE', `${path}/projects/${project}`, { idempotencyKey: newKey() })
  history.erasedProjects.push(project)
}

/** What clients do with the service. Each ends when all that it began has ended. */
export const stories: Record<string, (world: World) => Promise<void>> = {
  trainTwice,
  cancel,
  deleteCheckpointAndModel,
  forkAndName,
  trainOnUpload,
  useKubectl,
  useKeysAndWebhooks,
  eraseProject,
}
