import type { HttpError } from '../../../lib/http/http-error.ts'
import { expect, test } from 'vitest'
import { readStepReference, readSteps } from './steps.ts'

test.each<[string, number[] | undefined, NodeJS.Dict<string | string[]>, number[]]>([
  ['in the body, each once', [3, 1, 3], {}, [3, 1]],
  ['in the query, separated by commas', undefined, { steps: '1,2' }, [1, 2]],
  ['in the query, repeated', undefined, { steps: ['1', '2'] }, [1, 2]],
  ['in the query, with brackets', undefined, { 'steps[]': ['4', '5'] }, [4, 5]],
  ['in both', [1], { steps: '2' }, [1, 2]],
  ['an empty list in the body', [], {}, []],
  ['none in the query', undefined, { steps: '' }, []],
  ['negative steps are read', undefined, { steps: '-1' }, [-1]],
])('steps %s', (_, body, query, expected) => {
  expect(readSteps(body, query)).toEqual(expected)
})

test.each<[string, NodeJS.Dict<string | string[]>, string[], string]>([
  ['nowhere', {}, ['body', 'steps'], 'missing'],
  ['a step that is not a number', { steps: '1,two' }, ['query', 'steps', '1'], 'int_parsing'],
  ['a fraction', { steps: '1.5' }, ['query', 'steps', '0'], 'int_parsing'],
  ['a huge number', { steps: '99999999999999999999999' }, ['query', 'steps', '0'], 'less_than_equal'],
  ['too many', { steps: '1,'.repeat(5_000) + '1' }, ['query', 'steps'], 'too_long'],
])('steps %s are rejected', (_, query, loc, type) => {
  expect(catchHttpError(() => readSteps(undefined, query)).detail).toEqual([{ loc, msg: expect.any(String), type }])
})

test.each([
  ['latest', 'latest'],
  ['0', { step: 0 }],
  ['12', { step: 12 }],
  ['2147483647', { step: 2147483647 }],
  ['prod', { alias: 'prod' }],
])('a checkpoint is named by %s', (text, expected) => {
  expect(readStepReference(text)).toEqual(expected)
})

test.each(['2147483648', '-1', '1.5', '', 'step', 'v1', 'a/b', 'a\0', '99999999999'])(
  '%j does not name a checkpoint',
  (text) => {
    expect(catchHttpError(() => readStepReference(text)).status).toBe(404)
  },
)

function catchHttpError(call: () => unknown): HttpError {
  try {
    call()
  } catch (error) {
    return error as HttpError
  }
  throw new Error('nothing was refused')
}
