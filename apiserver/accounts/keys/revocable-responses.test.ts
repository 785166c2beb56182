import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { RevocableResponses } from './revocable-responses.ts'

/** Counts how often the database is asked for ended keys, of which there are none. */
function watchedAnswers() {
  const asked: string[][] = []
  const query = (_: string, [keyIds]: [string[]]) => (asked.push(keyIds), Promise.resolve({ rows: [] }))
  return { asked, answers: new RevocableResponses({ query } as never) }
}

test('an answer is followed until it is out', async () => {
  const { asked, answers } = watchedAnswers()
  const response = new EventEmitter() as ServerResponse
  expect(answers.track('key', response).aborted).toBe(false)
  await answers.abortRevoked()
  expect(asked).toEqual([['key']])
  response.emit('close')
  await answers.abortRevoked()
  expect(asked).toEqual([['key']])
})

test('one that is out already is not followed', async () => {
  const { asked, answers } = watchedAnswers()
  const response = Object.assign(new EventEmitter(), { closed: true }) as unknown as ServerResponse
  answers.track('key', response)
  await answers.abortRevoked()
  expect(asked).toEqual([])
})
