import { expect, test } from 'vitest'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { describeJob, describeWaiting, type JobStatus, type JobContext } from './status.ts'
import { diffJobEvents } from './job-events.ts'
import { makeJob, makeResource } from '../../test/support/job-objects.ts'

const now = new Date('2026-01-01T00:00:30Z')
const defaults: JobContext = {
  wait: undefined,
  alreadyRan: false,
  stoppingIn: undefined,
  trainers: { wanted: 1, ready: 1, notReady: undefined },
  holderName: 'trainer-0',
  publication: undefined,
  now,
}

const describe = (job: Partial<OperatorJob>, around: Partial<JobContext> = {}) =>
  describeJob(makeResource(), makeJob(job), { ...defaults, ...around })

const summarize = ({ conditions }: JobStatus) =>
  conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)

const lost = { category: 'Internal' as const, reason: 'TrainerLost', message: 'gone', retryable: true }
const stopped = { category: 'Internal' as const, reason: 'TrainerStopped', message: 'stopped', retryable: true }
const checkpoint = { id: 'c', step: 4, uri: 'artifact:///checkpoints/c', digest: 'd' }
const span = { startedAt: new Date('2026-01-01T00:00:01.5Z'), finishedAt: new Date('2026-01-01T00:00:09Z') }

const said: [string, Partial<OperatorJob>, Partial<JobContext>, { phase: string; reason: string; message: string }][] =
  [
    [
      'it waits for a job of its model before it',
      { ahead: 1, firstAhead: 'email-rl-6' },
      {},
      { phase: 'Queued', reason: 'WaitingForModel', message: 'Waits for job email-rl-6 of its model, position 2.' },
    ],
    [
      'it waits for a trainer, and says what is wrong with it',
      { position: 3 },
      { trainers: { wanted: 1, ready: 0, notReady: { reason: 'ImagePullBackOff', message: 'pod x: no image' } } },
      {
        phase: 'Queued',
        reason: 'ImagePullBackOff',
        message:
          'Waits for a trainer of tiny, position 3; 0 of 1 trainers are ready (ImagePullBackOff: pod x: no image).',
      },
    ],
    [
      'it waits for a trainer that is starting',
      {},
      { trainers: { wanted: 1, ready: 0, notReady: { reason: 'NotReadyYet', message: 'pod x: is running' } } },
      {
        phase: 'Queued',
        reason: 'WaitingForTrainer',
        message: 'Waits for a trainer of tiny, position 1; 0 of 1 trainers are ready (NotReadyYet: pod x: is running).',
      },
    ],
    [
      'it waits for a trainer that downloads its base model',
      {},
      { trainers: { wanted: 1, ready: 0, notReady: { reason: 'Downloading', message: 'pod x: 1 of 2 GB' } } },
      {
        phase: 'Queued',
        reason: 'Downloading',
        message: 'Waits for a trainer of tiny, position 1; 0 of 1 trainers are ready (Downloading: pod x: 1 of 2 GB).',
      },
    ],
    [
      'it waits for one trainer, while another one has a problem',
      {},
      { trainers: { wanted: 2, ready: 1, notReady: { reason: 'InsufficientGPU', message: 'pod x: no GPU' } } },
      {
        phase: 'Queued',
        reason: 'WaitingForTrainer',
        message: 'Waits for a trainer of tiny, position 1; 1 of 2 trainers are ready (InsufficientGPU: pod x: no GPU).',
      },
    ],
    [
      'it waits for a BaseModel that was deleted, also behind another job of its model',
      { ahead: 1, firstAhead: 'email-rl-6', hasBaseModel: false },
      {},
      {
        phase: 'Queued',
        reason: 'BaseModelNotFound',
        message: 'No BaseModel serves tiny, the base of its model. It waits until one is there again.',
      },
    ],
    [
      'it waits again after an attempt that failed',
      { attempt: 1, failure: lost },
      {},
      {
        phase: 'Queued',
        reason: 'WaitingForTrainer',
        message:
          'Waits for a trainer of tiny, position 1; 1 of 1 trainers are ready. Attempt 1 failed: TrainerLost: gone',
      },
    ],
    [
      'it waits again because its trainer was stopped: no failure',
      { attempt: 1, failure: stopped },
      {},
      {
        phase: 'Queued',
        reason: 'WaitingForTrainer',
        message:
          'Waits for a trainer of tiny, position 1; 1 of 1 trainers are ready. Attempt 1 was given back: TrainerStopped: stopped',
      },
    ],
    [
      'it is paused, and behind another job of its model',
      { block: 'entity', ahead: 1 },
      {},
      {
        phase: 'Queued',
        reason: 'Paused',
        message: expect.stringMatching(/^Paused by an admin of its entity/) as string,
      },
    ],
    [
      'its entity has used its GPU seconds',
      { block: 'gpu_seconds' },
      {},
      {
        phase: 'Queued',
        reason: 'GpuSecondsUsed',
        message: expect.stringContaining('It begins at 2026-01-02T00:00:00Z or later') as string,
      },
    ],
    [
      'it is claimed',
      { state: 'Starting', attempt: 1 },
      {},
      { phase: 'Starting', reason: 'Claimed', message: 'Claimed by trainer-0; no report yet.' },
    ],
    [
      'it trains',
      { state: 'Running', attempt: 1 },
      {},
      { phase: 'Running', reason: 'StepReported', message: 'Trains in trainer-0.' },
    ],
    [
      'it failed',
      { state: 'Failed', attempt: 6, failure: lost },
      {},
      { phase: 'Failed', reason: 'TrainerLost', message: 'gone' },
    ],
    [
      'it ran before',
      { state: 'Succeeded', checkpoint },
      { alreadyRan: true },
      { phase: 'Succeeded', reason: 'AlreadyRan', message: 'This job ran before: Created step 4 of its model.' },
    ],
  ]

test.each(said)('%s', (_, job, around, expected) => {
  expect(describe(job, around)).toMatchObject(expected)
})

test('the whole status of a successful job', () => {
  const job = { state: 'Succeeded' as const, attempt: 1, progressStep: 8, progressTotal: 8, checkpoint, ...span }
  const { conditions: _, ...rest } = describe(job)
  expect(rest).toEqual({
    observedGeneration: 1,
    id: 'j1',
    phase: 'Succeeded',
    reason: 'Succeeded',
    message: 'Created step 4 of its model.',
    attempt: 1,
    progress: { step: 8, totalSteps: 8, summary: '8/8' },
    checkpoint: { step: 4, uri: 'artifact:///checkpoints/c', digest: 'd' },
    startTime: '2026-01-01T00:00:01Z',
    completionTime: '2026-01-01T00:00:09Z',
  })
})

const conditionCases: [string, Partial<OperatorJob>, Partial<JobContext>, string[]][] = [
  [
    'queued',
    {},
    {},
    [
      'Accepted=True Accepted',
      'Progressing=False WaitingForTrainer',
      'Published=False NotFinished',
      'Complete=False NotFinished',
      'Failed=False NotFinished',
      'Finished=False NotFinished',
    ],
  ],
  [
    'publishing',
    { state: 'Publishing', checkpoint },
    {},
    [
      'Accepted=True Accepted',
      'Progressing=True LoadingCheckpoint',
      'Published=False LoadingCheckpoint',
      'Complete=False NotFinished',
      'Failed=False NotFinished',
      'Finished=False NotFinished',
    ],
  ],
  [
    'succeeded while no engine was ready',
    { state: 'Succeeded', checkpoint },
    { publication: { ready: 0, asked: 0, loaded: 0 } },
    [
      'Accepted=True Accepted',
      'Progressing=False Succeeded',
      'Published=True EngineAtZero',
      'Complete=True Succeeded',
      'Failed=False Succeeded',
      'Finished=True Succeeded',
    ],
  ],
  [
    'refused for its input',
    { state: 'Failed', failure: { category: 'User', reason: 'InputNotAllowed', message: 'no', retryable: false } },
    {},
    [
      'Accepted=False InputNotAllowed',
      'Progressing=False InputNotAllowed',
      'Published=False NotFinished',
      'Complete=False InputNotAllowed',
      'Failed=True InputNotAllowed',
      'Finished=True InputNotAllowed',
    ],
  ],
]

test.each(conditionCases)('conditions: %s', (_, job, around, expected) => {
  expect(summarize(describe(job, around))).toEqual(expected)
})

test('conditions: a cancelled job has failed', () => {
  expect(summarize(describe({ state: 'Cancelled' }))).toContain('Failed=True Cancelled')
})

test('a condition keeps the time of its last change', () => {
  const resource = { ...makeResource(), status: describe({ state: 'Starting' }) }
  const later = { ...defaults, now: new Date('2026-01-01T01:00:00Z') }
  const { conditions = [] } = describeJob(resource, makeJob({ state: 'Queued' }), later)
  const times = Object.fromEntries(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
  expect(times).toMatchObject({ Accepted: '2026-01-01T00:00:30Z', Progressing: '2026-01-01T01:00:00Z' })
})

test('events: states that passed too fast to be observed are included', () => {
  const queued = describe({})
  const succeeded = describe(
    { state: 'Succeeded', attempt: 1, checkpoint },
    { publication: { ready: 2, asked: 2, loaded: 2 } },
  )
  const reasons = (from: JobStatus | undefined, to: JobStatus) => diffJobEvents(from, to).map(({ reason }) => reason)
  expect(reasons(undefined, queued)).toEqual(['Accepted'])
  expect(reasons(queued, succeeded)).toEqual(['Started', 'Succeeded'])
  expect(diffJobEvents(queued, succeeded).at(-1)?.message).toContain('is loaded on 2 of 2 ready engines.')
  expect(reasons(succeeded, succeeded)).toEqual([])
})

test('events: the client of REST knows that its job is accepted, and by which id', () => {
  expect(diffJobEvents(undefined, describe({}), { isOfRest: true })).toEqual([])
})

test('a cancelled job whose trainer still computes is not finished', () => {
  const cancelled = { state: 'Cancelled', attempt: 1, startedAt: now, finishedAt: now } as const
  const status = describe(cancelled, { stoppingIn: 'trainer-0' })
  expect(status).toMatchObject({ phase: 'Running', reason: 'Stopping' })
  expect(status.message).toContain('The trainer in trainer-0 has not dropped it yet.')
  expect(status.completionTime).toBeUndefined()
  expect(summarize(status)).toEqual(
    expect.arrayContaining(['Complete=False NotFinished', 'Failed=False NotFinished', 'Finished=False NotFinished']),
  )
  expect(describe(cancelled)).toMatchObject({ phase: 'Cancelled' })
})

test('events: a failed attempt is a warning', () => {
  const running = describe({ state: 'Running', attempt: 1 })
  const queued = describe({ state: 'Queued', attempt: 1, failure: lost })
  expect(diffJobEvents(running, queued)).toEqual([
    { type: 'Warning', reason: 'Retrying', message: 'Attempt 1 failed: TrainerLost: gone' },
  ])
})

test('events: an attempt that a stopped trainer returned is not a warning', () => {
  const running = describe({ state: 'Running', attempt: 1 })
  const queued = describe({ state: 'Queued', attempt: 1, failure: stopped })
  expect(diffJobEvents(running, queued)).toEqual([
    { type: 'Normal', reason: 'GivenBack', message: 'Attempt 1 was given back: TrainerStopped: stopped' },
  ])
})

const missing = { code: 'missing_log_probabilities', message: '2 of 2 trajectories have no log-probabilities.' }
const headline = { code: 'no_trainable_trajectories', message: `Nothing was trained: ${missing.message}` }
const ignored = ['epochs', 'ppo'].map((name) => ({ code: 'setting_ignored', message: `${name} was ignored.` }))

test('a job that already ran gets one event, and no event is repeated', () => {
  const status = describe({ state: 'Succeeded', checkpoint, warnings: [ignored[0]!, headline, missing] })
  expect(status).toMatchObject({
    reason: 'Succeeded',
    message: `Created step 4 of its model. epochs was ignored. ${headline.message}`,
    warnings: [ignored[0], headline, missing],
  })
  expect(status.conditions?.find(({ type }) => type === 'Complete')?.message).toBe(status.message)
})

test('events: each warning code has one event', () => {
  const queued = describe({ warnings: ignored })
  const running = describe({ state: 'Running', attempt: 1, warnings: [...ignored, headline, missing] })
  const warnings = (from: JobStatus | undefined, to: JobStatus) =>
    diffJobEvents(from, to).filter(({ type }) => type === 'Warning')
  expect(warnings(undefined, queued)).toEqual([
    { type: 'Warning', reason: 'SettingIgnored', message: 'epochs was ignored. ppo was ignored.' },
  ])
  expect(warnings(queued, running)).toEqual([
    { type: 'Warning', reason: 'NoTrainableTrajectories', message: headline.message },
    { type: 'Warning', reason: 'MissingLogProbabilities', message: missing.message },
  ])
  expect(warnings(running, describe({ state: 'Running', attempt: 2, warnings: [...ignored, missing] }))).toEqual([])
})

test('events: a job that waits for its model has one event', () => {
  const wait = { reason: 'ModelNotFound', message: 'There is no Model email yet.' }
  const status = describeWaiting(makeResource(), wait, now)
  expect(diffJobEvents(undefined, status)).toEqual([{ type: 'Normal', ...wait }])
  expect(diffJobEvents(status, status)).toEqual([])
})
