import { expect, test } from 'vitest'
import { explainMissing, type Missing } from './explain-missing.ts'

const trained = {
  state: 'Succeeded',
  isReported: true,
  isDeleted: false,
  checkpointId: 'checkpoint',
  step: 3,
  bytes: 100,
  laterSteps: 0,
} as const
const untrained = { ...trained, isReported: false, checkpointId: null, step: null, bytes: null, laterSteps: null }
const row = { flags: [], push: 1 }

test.each<[string, Parameters<typeof explainMissing>, Missing['reason']]>([
  ['was only logged', [row, undefined], 'logged'],
  ['has no log-probabilities', [{ flags: ['no_logprobs'], push: 0 }, trained], 'not_trained'],
  ['has no advantage', [{ flags: ['zero_advantage'], push: 0 }, trained], 'not_trained'],
  ['is being trained on', [row, { ...untrained, state: 'Running' }], 'not_reported'],
  ['is of a failed job', [row, { ...untrained, state: 'Failed' }], 'job_failed'],
  ['waits for the report', [row, { ...trained, isReported: false, bytes: null }], 'not_reported'],
  ['has a deleted checkpoint', [row, { ...trained, isDeleted: true }], 'checkpoint_deleted'],
  ['is of an old step', [row, { ...trained, bytes: null, laterSteps: 10 }], 'removed'],
  ['is of a job without a file', [row, { ...trained, bytes: null, laterSteps: 9 }], 'not_kept'],
  ['was not sampled', [row, trained], 'not_kept'],
])('a trajectory that %s', (_, [trajectory, file], reason) => {
  expect(explainMissing(trajectory, file).reason).toBe(reason)
})

test('says the setting that makes them', () => {
  expect(explainMissing(row, trained).message).toContain('{"token_statistics": "all"}')
})
