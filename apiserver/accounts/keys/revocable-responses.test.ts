import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Lease } from '../../../lib/leased-cache.ts'
import { noLease, permanentLease } from '../../../test/support/leases.ts'
import { RevocableResponses } from './revocable-responses.ts'

/** Records which keys the database is asked for. A key that is not in `usable` is revoked. */
function watchedAnswers(lease: Lease, usable: Record<string, Date | null> = { key: null }) {
  const asked: string[][] = []
  const query = (_text: string, [keyIds]: [string[]]) => {
    asked.push(keyIds)
    const known = keyIds.filter((id) => usable[id] !== undefined)
    return Promise.resolve({ rows: known.map((id) => ({ id, expiresAt: usable[id] })) })
  }
  return { asked, usable, answers: new RevocableResponses({ query } as never, lease) }
}

const openResponse = () => new EventEmitter() as ServerResponse

test('an answer is tracked until it is sent', async () => {
  const { asked, answers } = watchedAnswers(noLease)
  const response = openResponse()
  expect(answers.track({ keyId: 'key' }, response).aborted).toBe(false)
  await answers.abortRevoked()
  expect(asked).toEqual([['key']])
  response.emit('close')
  await answers.abortRevoked()
  expect(asked).toEqual([['key']])
})

test('an answer that is already sent is not tracked', async () => {
  const { asked, answers } = watchedAnswers(noLease)
  const response = Object.assign(new EventEmitter(), { closed: true }) as unknown as ServerResponse
  answers.track({ keyId: 'key' }, response)
  await answers.abortRevoked()
  expect(asked).toEqual([])
})

test('with a lease, the database is asked only for changed keys, and at once', async () => {
  const { asked, usable, answers } = watchedAnswers(permanentLease, { key: null, other: null })
  const [revoked, other] = [
    answers.track({ keyId: 'key' }, openResponse()),
    answers.track({ keyId: 'other' }, openResponse()),
  ]
  await answers.abortRevoked()
  await answers.abortRevoked()
  expect(asked).toEqual([['key', 'other']])
  delete usable['key']
  answers.drop('key:key')
  await expect.poll(() => revoked.aborted).toBe(true)
  expect([other.aborted, asked.slice(1)]).toEqual([false, [['key']]])
})

test('without a lease, the database is asked each time', async () => {
  const { usable, answers } = watchedAnswers(noLease)
  const revoked = answers.track({ keyId: 'key' }, openResponse())
  await answers.abortRevoked()
  delete usable['key']
  await answers.abortRevoked()
  expect(revoked.aborted).toBe(true)
})

test('an expired key ends its answers, without a query', async () => {
  const { asked, answers } = watchedAnswers(permanentLease, { key: new Date(Date.now() + 20) })
  const expired = answers.track({ keyId: 'key' }, openResponse())
  await answers.abortRevoked()
  expect(expired.aborted).toBe(false)
  await expect.poll(() => answers.abortRevoked().then(() => expired.aborted)).toBe(true)
  expect(asked).toHaveLength(1)
})
