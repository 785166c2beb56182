import { expect, test } from 'vitest'
import { unknownPath } from './unknown-path.ts'

test.each([
  ['/favicon.ico', 'GET /favicon.ico does not exist. GET /docs lists all operations.'],
  ['/v1/files', expect.stringContaining('Create training jobs with POST /v1/preview/training-jobs')],
  [`/v1/${'a/'.repeat(50_000)}`, expect.stringMatching(/^.{0,300}$/)],
])('an unknown path is answered with where to look: %.20s', (path, message) => {
  expect(unknownPath({ method: 'GET', path })).toMatchObject({ status: 404, message: message as string })
})
