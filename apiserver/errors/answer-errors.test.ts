import { notFound } from '../../lib/http/http-error.ts'
import { expect, test } from 'vitest'
import { StoreFailed } from '../../artifacts/store/failed.ts'
import { createLogger } from '../../lib/log.ts'
import { toHttpError } from './answer-errors.ts'

const log = createLogger('test', 'silent')
const withCode = (code: string, message = 'x', more = {}) => Object.assign(new Error(message), { code, ...more })

test.each<[string, unknown, number]>([
  ['an HttpError stays unchanged', notFound('Model'), 404],
  ['Postgres refuses connections', withCode('ECONNREFUSED', '', { syscall: 'connect' }), 503],
  ['Postgres shuts down', withCode('57P01'), 503],
  ['a statement that took too long', withCode('57014'), 504],
  ['a statement that waited too long for a lock', withCode('55P03'), 503],
  ['a deadlock', withCode('40P01'), 503],
  ['Postgres has no disk space', withCode('53100'), 503],
  ['the connection broke', new Error('Connection terminated unexpectedly'), 503],
  ['a query without an answer', new Error('Query read timeout'), 503],
  ['no free connection', new Error('timeout exceeded when trying to connect'), 503],
  ['not migrated yet', withCode('42P01'), 503],
  ['between two migrations: no such column', withCode('42703'), 503],
  ['between two migrations: no such function', withCode('42883'), 503],
  ['the artifact store is unavailable', new StoreFailed('reading from the artifact store'), 503],
  ['an error in our SQL', withCode('42601'), 500],
  ['a missing file', withCode('ENOENT', '', { syscall: 'open' }), 500],
  ['an error in our code', new TypeError('undefined is not a function'), 500],
  ['a thrown value that is not an error', 'oops', 500],
])('%s', (_, error, status) => {
  expect(toHttpError(error, log).status).toBe(status)
})

test('an unexpected error reveals no details', () => {
  expect(toHttpError(new Error('password=x'), log).detail).toBe('Internal server error')
})
