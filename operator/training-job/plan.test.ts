import { expect, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import type { JobState } from '../../crds/job-states.ts'
import { planJob, type JobFacts, type JobPlan } from './plan.ts'
import { makeJob, makeResource } from '../../test/support/job-objects.ts'

const now = new Date('2026-01-01T00:01:00Z')
const model = { id: 'm1', entity: 'acme', baseModel: 'tiny', served: true }
const resource = makeResource()

const withSpec = (change: Partial<TrainingJob['spec']>): Partial<JobFacts> => ({ resource: makeResource(change) })
const finishedAt = new Date('2026-01-01T00:00:00Z')

const cases: [string, Partial<JobFacts>, Partial<JobPlan>][] = [
  [
    'a finished job whose trainer still works on it is not deleted yet',
    {
      ...withSpec({ ttlSecondsAfterFinished: 0 }),
      job: makeJob({ state: 'Cancelled', finishedAt: new Date(0) }),
      stoppingIn: 'trainer-0',
    },
    { do: 'none' },
  ],
  [
    'no model of the name',
    { modelExists: false },
    { do: 'none', wait: expect.objectContaining({ reason: 'ModelNotFound' }) },
  ],
  [
    'the model is refused',
    { model: undefined },
    { do: 'none', wait: expect.objectContaining({ reason: 'ModelNotAccepted' }) },
  ],
  [
    'the base model is gone',
    { model: { ...model, served: false } },
    { do: 'none', wait: expect.objectContaining({ reason: 'BaseModelNotFound' }) },
  ],
  [
    'its base model does not allow its PriorityClass',
    withSpec({ priorityClassName: 'system-cluster-critical' }),
    { do: 'none', wait: expect.objectContaining({ reason: 'PriorityClassNotAllowed' }) },
  ],
  ['its base model allows its PriorityClass', withSpec({ priorityClassName: 'high' }), { do: 'insert' }],
  ['made with kubectl: it gets its row', {}, { do: 'insert', modelId: 'm1', maxAttempts: 6 }],
  ['its own limit of retries', withSpec({ retry: { limit: 0 } }), { do: 'insert', modelId: 'm1', maxAttempts: 1 }],
  [
    'it has waited too long for its start',
    { job: makeJob({ startDeadlineSeconds: 60, createdAt: finishedAt }) },
    {
      do: 'fail',
      failure: expect.objectContaining({ category: 'Capacity', reason: 'StartDeadlineExceeded', retryable: true }),
    },
  ],
  [
    'it may still be started in time',
    { job: makeJob({ startDeadlineSeconds: 61, createdAt: finishedAt }) },
    { do: 'none', requeueAfterMs: 1_000 },
  ],
  [
    'it has trained too long, over all attempts',
    { job: makeJob({ activeDeadlineSeconds: 60, startDeadlineSeconds: 1, firstClaimedAt: finishedAt }) },
    {
      do: 'fail',
      failure: expect.objectContaining({ category: 'User', reason: 'DeadlineExceeded', retryable: false }),
    },
  ],
  [
    'it was started in time, and has none for its training',
    { job: makeJob({ state: 'Running', startDeadlineSeconds: 1, firstClaimedAt: finishedAt }) },
    { do: 'none' },
  ],
  [
    'it is trained: no deadline counts',
    { job: makeJob({ state: 'Publishing', activeDeadlineSeconds: 1, firstClaimedAt: finishedAt }) },
    { do: 'none' },
  ],
  [
    'it is suspended: no deadline passes',
    {
      job: makeJob({ suspend: true, suspendedAt: now, activeDeadlineSeconds: 1, firstClaimedAt: finishedAt }),
      resource: makeResource({ mode: 'Dedicated', suspend: true }),
    },
    { do: 'none' },
  ],
  [
    'it was suspended for a day: that time does not count',
    { job: makeJob({ suspendedSeconds: 86_400, activeDeadlineSeconds: 1, firstClaimedAt: finishedAt }) },
    { do: 'none', requeueAfterMs: expect.any(Number) },
  ],
  [
    'its resource is suspended: the row follows',
    { job: makeJob(), resource: makeResource({ mode: 'Dedicated', suspend: true }) },
    { do: 'wantSuspended', id: 'j1', asked: null },
  ],
  [
    'a suspension is asked over REST: it is written into the resource',
    { job: makeJob({ suspendAsked: true }) },
    { do: 'wantSuspended', id: 'j1', asked: true },
  ],
  ['all is known: it is queued', { job: makeJob({ state: 'Pending' }) }, { do: 'queue', id: 'j1' }],
  [
    'pending while its model is not there',
    { job: makeJob({ state: 'Pending' }), modelExists: false },
    { do: 'none', wait: expect.objectContaining({ reason: 'ModelNotFound' }) },
  ],
  [
    "an input of another entity's",
    { job: makeJob({ state: 'Pending', inputUri: 'artifact:///payloads/other/a.json' }) },
    { do: 'fail', id: 'j1', failure: expect.objectContaining({ category: 'User', reason: 'InputNotAllowed' }) },
  ],
  [
    'an input that climbs out of its folder',
    { job: makeJob({ state: 'Pending', inputUri: 'artifact:///payloads/acme/../other/a.json' }) },
    { do: 'fail', id: 'j1' },
  ],
  [
    'SFT whose data are elsewhere',
    { job: makeJob({ state: 'Pending', method: 'SFT', inputUri: 'https://a.example/b', inputDigest: null }) },
    { do: 'none', fetchInputOf: 'j1', wait: expect.objectContaining({ reason: 'FetchingInput' }) },
  ],
  [
    'SFT whose data could not be fetched yet',
    { job: makeJob({ state: 'Pending', method: 'SFT', inputDigest: null, inputError: 'its server answered 503' }) },
    { do: 'none', wait: expect.objectContaining({ message: expect.stringContaining('its server answered 503') }) },
  ],
  [
    'SFT on a data set in the store',
    { job: makeJob({ state: 'Pending', method: 'SFT', inputUri: 'artifact:///artifacts/acme/a' }) },
    { do: 'queue', id: 'j1' },
  ],
  [
    "SFT on a data set of another entity's",
    { job: makeJob({ state: 'Pending', method: 'SFT', inputUri: 'artifact:///artifacts/other/a' }) },
    { do: 'fail', id: 'j1', failure: expect.objectContaining({ reason: 'InputNotAllowed' }) },
  ],
  ['running: nothing to do', { job: makeJob({ state: 'Running' }) }, { do: 'none' }],
  [
    'cancelled by its resource',
    { ...withSpec({ cancel: true }), job: makeJob({ state: 'Running' }) },
    { do: 'cancel' },
  ],
  [
    'another limit of retries',
    { ...withSpec({ retry: { limit: 1 } }), job: makeJob({ state: 'Queued' }) },
    { do: 'limit', maxAttempts: 2 },
  ],
  [
    'finished, its time is not over',
    { ...withSpec({ ttlSecondsAfterFinished: 100 }), job: makeJob({ state: 'Succeeded', finishedAt }) },
    { do: 'none', requeueAfterMs: 40_000 },
  ],
  [
    'finished, its time is over',
    { ...withSpec({ ttlSecondsAfterFinished: 60 }), job: makeJob({ state: 'Failed', finishedAt }) },
    { do: 'delete' },
  ],
]

test.each(cases)('%s', (_, facts, expected) => {
  const defaults: JobFacts = { resource, modelExists: true, model, priorityClassNames: ['high'], job: undefined, now }
  expect(planJob({ ...defaults, ...facts })).toMatchObject(expected)
})

test('a finished resource whose row is lost stays finished, and is deleted after its ttl', () => {
  const status = { phase: 'Succeeded' as const, completionTime: finishedAt.toISOString() }
  const planWith = (seconds?: number) => {
    const spec = seconds === undefined ? {} : { ttlSecondsAfterFinished: seconds }
    const finished = { ...makeResource(spec), status }
    return planJob({ resource: finished, modelExists: true, model, priorityClassNames: [], job: undefined, now })
  }
  expect([planWith(), planWith(61), planWith(60)]).toEqual([
    { do: 'none' },
    { do: 'none', requeueAfterMs: 1_000 },
    { do: 'delete' },
  ])
})

test.each<JobState>(['Succeeded', 'Failed', 'Cancelled'])('%s stays: no action is planned for it again', (state) => {
  const job = makeJob({ state, finishedAt })
  for (const change of [{}, { cancel: true }, { retry: { limit: 99 } }]) {
    const facts = { resource: makeResource(change), modelExists: true, model, priorityClassNames: [], job, now }
    expect(planJob(facts)).toEqual({ do: 'none' })
  }
})
