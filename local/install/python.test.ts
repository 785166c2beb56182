import { expect, test } from 'vitest'
import { judgeVersion } from './python.ts'

test.each([
  ['3.11.7', { command: 'python3', version: '3.11.7' }],
  ['3.13.0', { command: 'python3', version: '3.13.0' }],
  ['3.10.12', 'python3 is 3.10.12'],
  ['3.14.1', 'python3 is 3.14.1'],
])('Python %s', (version, judged) => {
  expect(judgeVersion('python3', version)).toEqual(judged)
})
