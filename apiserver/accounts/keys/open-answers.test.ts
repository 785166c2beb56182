import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { OpenAnswers } from './open-answers.ts'

/** Counts how often the database is asked for ended keys, of which there are none. */
function watchedAnswers() {
  const asked: string[][] = []
  const query = (_: string, [keyIds]: [string[]]) => (asked.push(keyIds), Promise.resolve({ rows: [] }))
  return { asked, answers: new OpenAnswers({ query } as never) }
}

test('an answer is followed until it is out', async () => {
  const { asked, answers } = watchedAnswers()
  const response = new EventEmitter() as ServerResponse
  expect(answers.follow('key', response).aborted).toBe(false)
  await answers.endRevoked()
  expect(asked).toEqual([['key']])
  response.emit('close')
  await answers.endRevoked()
  expect(asked).toEqual([['key']])
})

test('one that is out already is not followed', async () => {
  const { asked, answers } = watchedAnswers()
  const response = Object.assign(new EventEmitter(), { closed: true }) as unknown as ServerResponse
  answers.follow('key', response)
  await answers.endRevoked()
  expect(asked).toEqual([])
})
