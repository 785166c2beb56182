import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { recordLog } from '../../db/jobs/logs.ts'
import { recordFailure } from '../../db/jobs/reports.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import type { Rest } from '../support/rest.ts'
import { TrainingRows } from '../support/training-rows.ts'

interface Page {
  data: { id: string; attempt: number; time: string; level: string; text: string }[]
  has_more: boolean
  last_id: string
}

const own = useApiServer()
let rows: TrainingRows
let api: Rest
let stranger: Rest
const logsOf = (id: string, query = '') => `/v1/preview/training-jobs/${id}/logs?${query}`
const read = (id: string, query?: string) => api.call<Page>('GET', logsOf(id, query))
const texts = ({ data }: Page) => data.map(({ text }) => text)
const lost = { category: 'Internal', reason: 'Lost', message: 'lost', retryable: true } as const
const time = '2026-01-02T03:04:05.678Z'

beforeAll(async () => {
  stranger = await own.join('others')
})
beforeEach(async () => {
  rows = new TrainingRows(own.database.pool, `team-${randomUUID()}`)
  api = await own.join(rows.entity, 'read')
})

const say = (attempt: Attempt, ...lines: string[]) =>
  recordLog(
    own.database.pool,
    attempt,
    lines.map((text, seq) => ({ seq, time, level: 'info', text })),
  )

/** A job whose first attempt logged three lines and whose second attempt logged two. */
async function addTriedJob(): Promise<string> {
  const id = await rows.addJob(await rows.addModel())
  const first = await rows.claim()
  await say(first.attempt, 'one', 'two', 'three')
  await recordFailure(own.database.pool, first.attempt, lost)
  const second = await rows.claim()
  await say(second.attempt, 'four', 'five\nand six')
  return id
}

describe("a job's log", () => {
  test('is that of its newest attempt, unless another is requested', async () => {
    const id = await addTriedJob()
    expect(await read(id)).toEqual({
      object: 'list',
      data: [
        { id: '2-0', attempt: 2, time, level: 'info', text: 'four' },
        { id: '2-1', attempt: 2, time, level: 'info', text: 'five\nand six' },
      ],
      has_more: false,
      first_id: '2-0',
      last_id: '2-1',
    })
    expect(texts(await read(id, 'attempt=1')).slice(0, 3)).toEqual(['one', 'two', 'three'])
    expect(texts(await read(id, 'attempt=3'))).toEqual([])
  })

  test('is read in both directions', async () => {
    const id = await addTriedJob()
    const first = await read(id, 'limit=1')
    expect([texts(first), first.has_more]).toEqual([['four'], true])
    expect(texts(await read(id, `limit=1&after=${first.last_id}`))).toEqual(['five\nand six'])
    const last = await read(id, 'limit=1&order=desc')
    expect([texts(last), last.has_more]).toEqual([['five\nand six'], true])
    expect(texts(await read(id, `order=desc&after=${last.last_id}`))).toEqual(['four'])
  })

  test('is plain text on request', async () => {
    const id = await addTriedJob()
    const key = await addKey(own.database.pool, rows.entity, 'read')
    const headers = { authorization: `Bearer ${key}`, accept: 'text/plain' }
    const response = await fetch(own.server.url + logsOf(id), { headers })
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await response.text()).toBe(`${time} info four\n${time} info five\nand six\n`)
  })

  test('is empty before its first attempt', async () => {
    const id = await rows.addJob(await rows.addModel())
    expect(await read(id)).toEqual({ object: 'list', data: [], has_more: false, first_id: '', last_id: '' })
  })

  test('is not visible to other entities', async () => {
    const id = await addTriedJob()
    expect((await stranger.send('GET', logsOf(id))).status).toBe(404)
    expect((await api.send('GET', logsOf(randomUUID()))).status).toBe(404)
    expect((await api.send('GET', logsOf('none'))).status).toBe(404)
  })

  test.each([
    ['after=2-7', 'after'],
    ['after=1-0', 'after'],
    ['after=2-99999999999', 'after'],
    ['after=2-2147483648', 'after'],
    ['after=x', 'after'],
    ['after=', 'after'],
    ['attempt=0', 'attempt'],
    ['attempt=2147483648', 'attempt'],
    ['limit=1001', 'limit'],
    ['order=up', 'order'],
  ])('rejects %s', async (query, name) => {
    const answer = await api.send('GET', logsOf(await addTriedJob(), query))
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', name] }] },
    })
  })
})
