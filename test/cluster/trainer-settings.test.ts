import { beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const rows = useModelRows(stack)

/** The object after the API server's validation and defaults. It is not stored. */
async function check<T>(object: { kind: string; metadata?: object; spec: object }): Promise<T> {
  const whole = { apiVersion: 'trainyard.dev/v1alpha1', ...object, metadata: { name: 'x', namespace: 'trainyard' } }
  return JSON.parse(await stack.apply(whole, '--dry-run=server', '-ojson')) as T
}

describe('a base model', () => {
  const spec = { names: ['x/x'], source: { path: 'models/x' } }
  const checkModel = (change: object) =>
    check<{ spec: { source: object; trainer: object } }>({ kind: 'BaseModel', spec: { ...spec, ...change } })

  test('has safe defaults', async () => {
    const { source, trainer } = (await checkModel({})).spec
    expect(source).toEqual({ path: 'models/x', trustRemoteCode: false })
    expect(trainer).toEqual({
      warm: { min: 1, idleSeconds: 300 },
      maxSequenceLength: 2048,
      maxJobs: 4,
      coBatch: 'Off',
      saveSeconds: 60,
      defaultMode: 'Warm',
    })
  })

  const hub = { id: 'a/b', revision: 'main' }
  test.each<[string, object, string]>([
    ['no source', { source: {} }, 'exactly one of path, hub, s3 and pvc must be given'],
    [
      'trustRemoteCode without a source',
      { source: { trustRemoteCode: true } },
      'exactly one of path, hub, s3 and pvc must be given',
    ],
    ['two sources', { source: { path: 'a', hub } }, 'exactly one of path, hub, s3 and pvc must be given'],
    ['no GPU', { trainer: { gpus: 0 } }, 'spec.trainer.gpus'],
    ['too many jobs', { trainer: { maxJobs: 65 } }, 'spec.trainer.maxJobs'],
    ['a week between saves', { trainer: { saveSeconds: 86_401 } }, 'spec.trainer.saveSeconds'],
    ['an unknown way to share batches', { trainer: { coBatch: 'On' } }, 'spec.trainer.coBatch'],
    ['too few tokens in a batch', { trainer: { maxBatchTokens: 1 } }, 'spec.trainer.maxBatchTokens'],
  ])('with %s is rejected', async (_, change, sentence) => {
    await expect(checkModel(change)).rejects.toThrow(sentence)
  })

  test('cannot be trusted later, because its source is immutable', async () => {
    const [name, resource] = ['settings-source', 'basemodels.trainyard.dev/settings-source']
    const quiet = { engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec: { names: ['settings/source'], source: { path: 'models/x' }, ...quiet },
    })
    try {
      const patch = (source: object) =>
        stack.kubectl('-ntrainyard', 'patch', resource, '--type=merge', '-p', JSON.stringify({ spec: { source } }))
      await expect(patch({ trustRemoteCode: true })).rejects.toThrow('source is immutable')
      await patch({ trustRemoteCode: false })
    } finally {
      await stack.kubectl('-ntrainyard', 'delete', resource)
    }
  })
})

describe('a training job in Kubernetes', () => {
  const inputRef = { uri: 'artifact:///payloads/a/b.json', digest: '0'.repeat(64) }
  const checkJob = (method: string, config: object) =>
    check({ kind: 'TrainingJob', spec: { modelRef: { name: 'x' }, method, inputRef, config } })
  const extras = {
    klPenaltyCoef: 0.1,
    klPenaltyReferenceStep: 3,
    klPenaltySource: 'sample',
    truncatedImportanceSampling: 0,
    allowTrainingWithoutLogprobs: true,
    lossFn: 'ppo',
    ppo: true,
    packedSequenceLength: 1,
    plotTensors: true,
  }

  test('accepts all settings of RL', async () => {
    expect(await checkJob('RL', extras)).toMatchObject({ spec: { config: extras } })
  })

  test('accepts all settings of SFT', async () => {
    const config = { assistantTurns: 'last', metricLogging: { enabled: true, targetTrainingStep: 2 } }
    expect(await checkJob('SFT', config)).toMatchObject({ spec: { config } })
  })

  test.each(Object.entries(extras))('of SFT is rejected with %s', async (name, value) => {
    await expect(checkJob('SFT', { [name]: value })).rejects.toThrow('config has settings that SFT does not have')
  })

  test.each<[string, object]>([
    ['klPenaltyReferenceStep', { klPenaltyReferenceStep: -1 }],
    ['klPenaltyReferenceStep', { klPenaltyReferenceStep: 2 ** 31 }],
    ['klPenaltyStepLag', { klPenaltyStepLag: 0 }],
    ['truncatedImportanceSampling', { truncatedImportanceSampling: -1 }],
    ['lossFn', { lossFn: 'dpo' }],
  ])('of RL is rejected with a wrong %s', async (name, config) => {
    await expect(checkJob('RL', config)).rejects.toThrow(`spec.config.${name}`)
  })

  test.each<[object, string]>([
    [{ lossFn: 'ppo', ppo: false }, 'lossFn and ppo contradict each other'],
    [{ lossFn: 'cispo', ppo: true }, 'lossFn and ppo contradict each other'],
    [
      { klPenaltyStepLag: 1, klPenaltyReferenceStep: 0 },
      'klPenaltyStepLag and klPenaltyReferenceStep exclude each other',
    ],
  ])('of RL is rejected with %j', async (config, sentence) => {
    await expect(checkJob('RL', config)).rejects.toThrow(sentence)
  })
})

describe('a training job over REST', () => {
  let modelId: string
  beforeEach(async () => {
    modelId = (await rest.createModel()).id
  })
  const post = (config: object) =>
    rest.send('POST', '/v1/preview/training-jobs', {
      model_id: modelId,
      trajectory_groups: [],
      experimental_config: config,
    })
  const postId = async (config: object) => ((await (await post(config)).json()) as { id: string }).id
  const refusal = (at: number) => ({
    detail: [
      {
        type: 'value_error',
        loc: ['body', 'experimental_config', 'kl_penalty_reference_step'],
        msg: `Value error, the model has no step ${at}`,
      },
    ],
  })

  test('accepts more settings than the hosted service, and its resource has them', async () => {
    await rows.addCheckpoint(modelId, 1)
    const config = {
      kl_penalty_coef: 0.1,
      kl_penalty_reference_step: 1,
      truncated_importance_sampling: 2,
      allow_training_without_logprobs: false,
    }
    const id = await postId(config)
    const job = await rest.call('GET', `/v1/preview/training-jobs/${id}`)
    expect(job).toMatchObject({ experimental_config: config })
    const spec = await eventually(() =>
      stack.kubectl(
        'get',
        'tj',
        '-ntrainyard',
        '-l',
        `trainyard.dev/id=${id}`,
        '-o',
        'jsonpath={.items[0].spec.config}',
      ),
    )
    expect(JSON.parse(spec)).toEqual({
      klPenaltyCoef: 0.1,
      klPenaltyReferenceStep: 1,
      truncatedImportanceSampling: 2,
      allowTrainingWithoutLogprobs: false,
    })
  })

  const refer = (step: number) => ({ kl_penalty_coef: 0.1, kl_penalty_reference_step: step })

  test('can name a reference that exists, or that an earlier job may create', async () => {
    expect((await post(refer(0))).status).toBe(200)
    expect((await post(refer(1))).status).toBe(200)
    expect((await post(refer(3))).status).toBe(422)
  })

  test('can name any reference if it has no KL penalty', async () => {
    expect((await post({ kl_penalty_coef: 0, kl_penalty_reference_step: 3 })).status).toBe(200)
    expect((await post({ kl_penalty_coef: -1, kl_penalty_reference_step: 3 })).status).toBe(200)
    expect((await post({ kl_penalty_reference_step: 3 })).status).toBe(200)
  })

  test('with a missing reference is rejected, and the error has the location', async () => {
    await rows.addCheckpoint(modelId, 1)
    await rows.addCheckpoint(modelId, 2)
    await rest.call('DELETE', `/v1/preview/models/${modelId}/checkpoints?steps=1`)
    for (const step of [1, 3, 2_147_483_647]) {
      const answer = await post(refer(step))
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 422, body: refusal(step) })
    }
    expect((await post(refer(2))).status).toBe(200)
  })
})
