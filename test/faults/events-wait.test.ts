import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { useApiServerProcess } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { eventsOf, useFollowedJobs } from '../support/followed-jobs.ts'
import { killProgram } from '../support/kill.ts'
import type { TrainingEvent } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { started, step } from '../support/training-rows.ts'

interface Page {
  object: string
  data: TrainingEvent[]
  has_more: boolean
  first_id: string
  last_id: string
}

const stack = useStack()
const { own, access, addJob, startJob, follow } = useFollowedJobs(stack, useApiServerProcess())
const typesOf = (events: TrainingEvent[]) => events.map(({ type }) => type)
const readPage = (id: string, query: string) => access.api.call<Page>('GET', `${eventsOf(id)}?${query}`)

describe('a long poll', () => {
  test('answers as soon as there is an event after the cursor', async () => {
    const { id, report } = await startJob()
    const first = readPage(id, 'wait=20')
    await delay(200)
    const before = performance.now()
    await report(started)
    const page = await first
    expect(performance.now() - before).toBeLessThan(5_000)
    expect(page).toEqual({
      object: 'list',
      data: [
        {
          id: expect.any(String),
          type: 'training_started',
          data: { num_sequences: 2 },
          gradient_step: null,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        },
      ],
      has_more: false,
      first_id: page.data[0]!.id,
      last_id: page.data[0]!.id,
    })
    const next = readPage(id, `wait=20&after=${page.last_id}&limit=1`)
    await delay(100)
    await report(step(1), step(2))
    expect(await next).toMatchObject({ data: [{ data: { loss: 1 }, gradient_step: 1 }], has_more: true })
  })

  test('answers at once if there are events, or if no more can follow', async () => {
    const { id, report, cancel } = await startJob()
    await report(started)
    await cancel()
    const before = performance.now()
    const page = await readPage(id, 'wait=20')
    expect(typesOf(page.data)).toEqual(['training_started', 'training_failed'])
    expect((await readPage(id, `wait=20&after=${page.last_id}`)).data).toEqual([])
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  test('answers an empty page when its time is over', async () => {
    const { id } = await addJob()
    const before = performance.now()
    expect((await readPage(id, 'wait=0.5')).data).toEqual([])
    expect(performance.now() - before).toBeGreaterThanOrEqual(490)
  })

  test('without a wait answers at once', async () => {
    const { id } = await addJob()
    const before = performance.now()
    expect((await readPage(id, 'wait=0')).data).toEqual([])
    expect((await readPage(id, '')).data).toEqual([])
    expect(performance.now() - before).toBeLessThan(4_000)
  })

  test.each(['-1', '61', 'x', 'NaN', 'Infinity', '1e999'])('rejects the wait %s', async (wait) => {
    const answer = await access.api.send('GET', `${eventsOf((await addJob()).id)}?wait=${wait}`)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'wait'] }] },
    })
  })
})

describe('without Postgres', () => {
  test('streams stay open and continue; long polls get an error', async () => {
    const { id, report } = await startJob()
    await report(started)
    const stream = await follow(id)
    await stream.waitFor(1)
    const waiting = access.api.send('GET', `${eventsOf(id)}?wait=30&after=${stream.events[0]!.id}`)
    await delay(300)
    own.server.postgres.cut()
    const refused = await waiting
    expect({ status: refused.status, retry: refused.headers.get('retry-after') }).toEqual({ status: 503, retry: '1' })
    expect((await access.api.send('GET', `${eventsOf(id)}?wait=1`)).status).toBe(503)
    await report(step(1))
    await delay(1_500)
    expect(stream.events).toHaveLength(1)
    own.server.postgres.mend()
    await stream.waitFor(2, 10_000)
    await report(step(2))
    await stream.waitFor(3)
    expect(stream.events).toEqual(await access.api.listEvents(id))
    stream.close()
  })

  test('that was killed and is available again, streams continue', async () => {
    const { id, report } = await startJob()
    const stream = await follow(id)
    await report(started)
    await stream.waitFor(1)
    await killProgram(stack, 'postgres')
    await eventually(() => report(step(1)))
    await stream.waitFor(2, 20_000)
    stream.close()
  })
})
