import { expect, test } from 'vitest'
import { concerns } from './changes.ts'

const keys = {
  session: ['session'],
  models: ['GET /v1/preview/models', {}],
  job: ['GET /v1/preview/training-jobs/{training_job_id}', {}],
  metrics: ['metrics', 'id', ['loss']],
  usage: ['GET /v1/preview/usage', {}],
}
const concerned = (kind: string) =>
  Object.entries(keys)
    .filter(([, key]) => concerns(kind, key))
    .map(([name]) => name)

test.each([
  ['model.created', ['models']],
  ['training_job.events', ['job', 'metrics']],
  ['training_job.succeeded', ['models', 'job', 'metrics']],
  ['reset', ['models', 'job', 'metrics', 'usage']],
])('after %s the answers of %j are read again', (kind, names) => {
  expect(concerned(kind)).toEqual(names)
})
