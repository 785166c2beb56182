import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { useBaseModel } from '../support/resources.ts'
import { createRest, type Rest, type TrainingEvent } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken, startStatusServer, type RunningStatusServer } from '../support/status-server.ts'
import { postJson } from '../support/post.ts'

interface Warning {
  code: string
  message: string
}
interface Job {
  id: string
  state: string
  step: number | null
  warnings: Warning[]
}
interface Resource {
  metadata: { name: string; uid: string }
  status: { phase: string; message: string; warnings?: Warning[] }
}

const stack = useStack()
const baseModel = useBaseModel(stack, 'warnings')
const rest: Rest = createRest({ ...stack, baseModel })
const namespace = ['-n', 'trainyard']
const headline = {
  code: 'no_trainable_trajectories',
  message: 'Nothing was trained: 2 of 2 trajectories have no reward.',
}
const cause = { code: 'equal_rewards', message: '2 of 2 trajectories have no reward.' }
const late = { code: 'weights_unchanged', message: 'No weight of the model changed (gradient steps: 1).' }

let pool: Pool
let server: RunningStatusServer
let token: string

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  server = await startStatusServer(stack, stack.databaseUrl)
  token = await makeTrainerToken(stack, server.namespace)
})
afterAll(async () => {
  await server?.remove()
  await pool?.end()
})

/** Claims jobs until it gets this one. Other jobs are returned. */
async function claim(jobId: string) {
  const asking = { base_model: baseModel, process_id: randomUUID(), wait_seconds: 20, gpus: 0 }
  const held: string[] = []
  for (;;) {
    const { status, body = {} } = await postJson(`${server.url}/v1/claims`, token, { ...asking, holding: held })
    if (status !== 200) throw new Error(`nothing to claim: ${status}`)
    held.push(String(body['id']))
    if (body['id'] !== jobId) continue
    const path = `/v1/jobs/${jobId}/attempts/${String(body['attempt'])}`
    const report = (name: string, content: object) => postJson(`${server.url}${path}/${name}`, token, content)
    return { checkpointId: String(body['checkpoint_id']), report }
  }
}

const startOf = (warnings?: Warning[], data: object = {}) => ({
  events: [{ seq: 0, type: 'training_started', data: { num_sequences: 1, ...data }, ...(warnings && { warnings }) }],
})
const checkpointOf = (id: string, warnings?: Warning[]) => ({
  uri: `artifact:///checkpoints/${id}`,
  digest: 'ab'.repeat(32),
  metrics: {},
  ...(warnings && { warnings }),
})

const readJob = (id: string) => rest.call<Job>('GET', `/v1/preview/training-jobs/${id}`)
const listWarnings = (events: TrainingEvent[]) => events.map(({ type, data }) => [type, data['warnings']])

async function readResource(id: string): Promise<Resource> {
  const text = await stack.kubectl('get', 'tj', ...namespace, '-l', `trainyard.dev/id=${id}`, '-o', 'json')
  return (JSON.parse(text) as { items: Resource[] }).items[0]!
}

async function listKubernetesEvents(uid: string): Promise<{ reason: string; message: string; type: string }[]> {
  const selector = `involvedObject.uid=${uid},type=Warning`
  const text = await stack.kubectl('get', 'events', ...namespace, '--field-selector', selector, '-o', 'json')
  const { items } = JSON.parse(text) as { items: { reason: string; message: string; type: string }[] }
  return items.map(({ reason, message, type }) => ({ reason, message, type }))
}

let modelId: string
beforeEach(async () => {
  modelId = (await rest.createModel()).id
})

describe('warnings of a trainer', () => {
  let jobId: string
  beforeEach(async () => {
    jobId = await rest.startJob(modelId, [])
  })

  test("are in the job, in lists, in its events, in its resource and in the resource's events", async () => {
    const { checkpointId, report } = await claim(jobId)
    expect((await report('events', startOf([headline, cause]))).status).toBe(200)
    expect(await readJob(jobId)).toMatchObject({ state: 'Running', warnings: [headline, cause] })
    for (let times = 0; times < 2; times++) {
      expect((await report('checkpoint', checkpointOf(checkpointId, [late, cause]))).status).toBe(200)
    }
    const events = await rest.waitForEnd(jobId)
    expect(listWarnings(events)).toEqual([
      ['training_started', [headline, cause]],
      ['training_ended', [late]],
    ])
    const warnings = [headline, cause, late]
    const jobs = await rest.call<{ data: Job[] }>('GET', `/v1/preview/training-jobs?model_id=${modelId}`)
    expect(jobs.data).toMatchObject([{ state: 'Succeeded', step: 1, warnings }])
    const resource = await eventually(async () => {
      const found = await readResource(jobId)
      expect(found.status.phase).toBe('Succeeded')
      return found
    })
    expect(resource.status).toMatchObject({
      message: `Created step 1 of its model. ${headline.message} ${late.message}`,
      warnings,
    })
    expect(await listKubernetesEvents(resource.metadata.uid)).toEqual(
      expect.arrayContaining([
        { type: 'Warning', reason: 'NoTrainableTrajectories', message: headline.message },
        { type: 'Warning', reason: 'EqualRewards', message: cause.message },
        { type: 'Warning', reason: 'WeightsUnchanged', message: late.message },
      ]),
    )
    expect(await listKubernetesEvents(resource.metadata.uid)).toHaveLength(3)
  })

  test("are limited, and contain no secrets; a member of the event's data is not a warning", async () => {
    const { report } = await claim(jobId)
    const secret = { code: 'too_long', message: `password=hunter2 ${'x'.repeat(10_000)}` }
    expect((await report('events', startOf([secret], { warnings: 'mine', reward: 1 }))).status).toBe(200)
    const { warnings } = await readJob(jobId)
    expect(warnings).toEqual([{ code: 'too_long', message: `password=*** ${'x'.repeat(487)}` }])
    const [started] = await rest.listEvents(jobId)
    expect(started?.data).toEqual({ num_sequences: 1, reward: 1, warnings })
    expect((await report('events', startOf([{ code: 'Too Long', message: 'x' }]))).status).toBe(422)
    await rest.call('POST', `/v1/preview/training-jobs/${jobId}/cancel`)
  })

  test('of a later attempt replace those of an earlier one, and no event is repeated', async () => {
    const first = await claim(jobId)
    await first.report('events', startOf([headline, cause]))
    await first.report('release', {})
    const second = await claim(jobId)
    expect((await first.report('events', startOf([late]))).status).toBe(409)
    expect((await readJob(jobId)).warnings).toEqual([headline, cause])
    await second.report('events', startOf([cause]))
    expect((await readJob(jobId)).warnings).toEqual([cause])
    await second.report('checkpoint', checkpointOf(second.checkpointId))
    expect(listWarnings(await rest.waitForEnd(jobId))).toEqual([
      ['training_started', [headline, cause]],
      ['training_ended', undefined],
    ])
  })

  test('that are empty change nothing', async () => {
    const { checkpointId, report } = await claim(jobId)
    await report('events', startOf())
    await report('checkpoint', checkpointOf(checkpointId))
    const events = await rest.waitForEnd(jobId)
    expect(events.map(({ data }) => data)).toEqual([{ num_sequences: 1 }, {}])
    expect(await readJob(jobId)).toMatchObject({ state: 'Succeeded', warnings: [] })
    const { status } = await eventually(async () => {
      const found = await readResource(jobId)
      expect(found.status.phase).toBe('Succeeded')
      return found
    })
    expect({ message: status.message, warnings: status.warnings }).toEqual({ message: 'Created step 1 of its model.' })
  })
})

describe('a setting in the wrong member', () => {
  const right = (name: string, method: string, member: string) =>
    `Extra inputs are not permitted; ${method} reads ${name} from ${member}`
  const url = 'https://127.0.0.1/x.jsonl'

  test.each<[string, string, object, string[], string]>([
    [
      'of RL, in config',
      'training-jobs',
      { trajectory_groups: [], config: { learning_rate: 1e-4 } },
      ['body', 'config', 'learning_rate'],
      right('learning_rate', 'RL', 'experimental_config'),
    ],
    [
      'of RL, beside experimental_config',
      'training-jobs',
      { trajectory_groups: [], ppo: true },
      ['body', 'ppo'],
      right('ppo', 'RL', 'experimental_config'),
    ],
    [
      'of SFT, beside config',
      'sft-training-jobs',
      { training_data_url: url, batch_size: 2 },
      ['body', 'batch_size'],
      right('batch_size', 'SFT', 'config'),
    ],
  ])('%s is rejected with the right place', async (_, path, body, loc, msg) => {
    const answer = await rest.send('POST', `/v1/preview/${path}`, { model_id: modelId, ...body })
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 422,
      body: { detail: [{ loc, msg, type: 'extra_forbidden' }] },
    })
  })

  test.each([null, {}, { learning_rate: null, later: null }])('config %j of RL is accepted', async (config) => {
    const body = { model_id: modelId, trajectory_groups: [], config }
    const { id } = await rest.call<Job>('POST', '/v1/preview/training-jobs', body)
    await rest.call('POST', `/v1/preview/training-jobs/${id}/cancel`)
  })

  test('of SFT, in experimental_config, is a warning from the start, before those of the trainer', async () => {
    const path = `/v1/preview/artifacts/local/tests/data-${randomUUID()}?file=train.jsonl&check=none`
    const headers = { authorization: `Bearer ${stack.apiKey}` }
    const uploaded = await fetch(stack.url + path, { method: 'PUT', headers, body: '{"messages": []}' })
    const { address } = (await uploaded.json()) as { address: string }
    const model = await rest.createModel()
    const { id } = await rest.call<Job>('POST', '/v1/preview/sft-training-jobs', {
      model_id: model.id,
      training_data_url: address,
      experimental_config: { learning_rate: 1e-3, note: 'mine' },
    })
    const ignored = {
      code: 'setting_ignored',
      message: 'learning_rate in experimental_config was ignored: SFT reads it from config.',
    }
    expect(await readJob(id)).toMatchObject({ warnings: [ignored], experimental_config: { learning_rate: 1e-3 } })
    const { report } = await claim(id)
    await report('events', startOf([ignored, cause]))
    expect(await readJob(id)).toMatchObject({ warnings: [ignored, cause] })
    expect(listWarnings(await rest.listEvents(id))).toEqual([['training_started', [ignored, cause]]])
    await rest.call('POST', `/v1/preview/training-jobs/${id}/cancel`)
  })
})

describe('a setting that is not known', () => {
  const postWith = async (experimental_config: object) => {
    const model = await rest.createModel()
    return rest.send('POST', '/v1/preview/training-jobs', {
      model_id: model.id,
      trajectory_groups: [],
      experimental_config,
    })
  }

  test('is a warning from the start, in the job, its event, its resource and an Event of that, and is no setting of it', async () => {
    const answer = await postWith({ future_setting: 1, later: null, off: false, ppo: true, loss_fn: 'ppo' })
    const { id } = (await answer.json()) as { id: string }
    const unknown = {
      code: 'setting_unknown',
      message: 'experimental_config has a setting that is not known here and had no effect: future_setting.',
    }
    const config = { ppo: true, loss_fn: 'ppo' }
    expect(await readJob(id)).toMatchObject({ warnings: [unknown], experimental_config: config })
    const { checkpointId, report } = await claim(id)
    await report('events', startOf([cause]))
    expect(listWarnings(await rest.listEvents(id))).toEqual([['training_started', [unknown, cause]]])
    await report('checkpoint', checkpointOf(checkpointId))
    await eventually(async () => {
      const { status, metadata } = await readResource(id)
      expect(status).toMatchObject({ phase: 'Succeeded', warnings: [unknown, cause] })
      const events = await listKubernetesEvents(metadata.uid)
      expect(events).toContainEqual({ type: 'Warning', reason: 'SettingUnknown', message: unknown.message })
    })
  })

  test('is a 422 if it is most probably misspelt', async () => {
    const answer = await postWith({ learning_rte: 1 })
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 422,
      body: {
        detail: [
          {
            type: 'value_error',
            loc: ['body', 'experimental_config', 'learning_rte'],
            msg: 'Value error, this is not a setting. Did you mean learning_rate?',
          },
        ],
      },
    })
  })
})

describe('a parameter that a list does not know', () => {
  test.each([
    [
      '/v1/preview/training-jobs',
      'status',
      'Running',
      'after, limit, order, max_total, model_id, project, method, state, created_after, created_before',
    ],
    ['/v1/preview/models', 'projekt', 'x', 'after, limit, max_total, order, project, name'],
  ])('of %s is rejected: %s', async (path, name, value, known) => {
    const answer = await rest.send('GET', `${path}?${name}=${value}&limit=1`)
    const msg = `Extra inputs are not permitted; this list knows: ${known}`
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 422,
      body: { detail: [{ loc: ['query', name], msg, type: 'extra_forbidden' }] },
    })
  })
})
