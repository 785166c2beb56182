import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelJob } from '../../db/jobs/endings.ts'
import { recordEvents } from '../../db/jobs/reports.ts'
import { repeat } from '../../lib/repeat.ts'
import { expireOutbox, numberOutbox } from '../../db/webhooks/outbox.ts'
import { addKey, serveApi, useApiServer } from '../support/api-server.ts'
import { openEventStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { useServices } from '../support/services.ts'
import { started, step, TrainingRows } from '../support/training-rows.ts'

const stack = useServices()
const own = useApiServer()
const path = '/v1/preview/stream?topics='

interface Change {
  kind: string
  id: string
  project: string
  model_id: string
  at: string
  data: { state?: string; from?: number; to?: number; events?: { id: string; type: string }[] }
}

let entity: string
let key: string
let rows: TrainingRows
const operator = new AbortController()
let numbering: Promise<void>

// The operator numbers changes. There is none on this database.
beforeAll(() => {
  const number = async () => void (await numberOutbox(own.database.pool))
  numbering = repeat(number, { pauseMs: 20, signal: operator.signal, onError: () => {} })
})
afterAll(async () => {
  operator.abort()
  await numbering
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity, 'read')
  rows = new TrainingRows(own.database.pool, entity)
})

/** Opens a stream when all changes so far have their positions: one that gets its own later is new to the stream. */
async function open(topics: string, headers: Record<string, string> = {}, url = own.server.url) {
  await eventually(async () => {
    const waiting = 'SELECT id FROM training.outbox WHERE entity = $1 AND position IS NULL'
    expect((await own.database.pool.query(waiting, [entity])).rows).toEqual([])
  })
  return openEventStream(`${url}${path}${topics}`, { authorization: `Bearer ${key}`, ...headers })
}
type Stream = Awaited<ReturnType<typeof open>>
const changesOf = (stream: Stream) => stream.events as unknown as Change[]
const kindsOf = (stream: Stream) => changesOf(stream).map(({ kind }) => kind)

async function startJob(project = 'project') {
  const model = await rows.addModel(project)
  const job = await rows.addJob(model)
  const { attempt } = await rows.claim()
  return { model, job, attempt }
}

describe('a stream of changes', () => {
  test('has the states of all jobs and models of the entity, as they change', async () => {
    const stream = await open('entity')
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream\b/)
    expect(Object.fromEntries(stream.headers)).toMatchObject({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    await new TrainingRows(own.database.pool, `other-${randomUUID()}`).addModel()
    const { model, job, attempt } = await startJob()
    await recordEvents(own.database.pool, attempt, [started, step(1)])
    await cancelJob(own.database.pool, job)
    await eventually(() => expect(kindsOf(stream)).toContain('training_job.cancelled'))
    expect(kindsOf(stream)).toEqual([
      'model.created',
      'training_job.queued',
      'training_job.starting',
      'training_job.events',
      'training_job.running',
      'training_job.cancelled',
    ])
    expect(changesOf(stream)[4]).toEqual({
      kind: 'training_job.running',
      id: job,
      project: 'project',
      model_id: model,
      at: expect.stringMatching(/Z$/),
      data: expect.objectContaining({ state: 'Running', created_at: expect.stringMatching(/Z$/) }),
    })
    // Only who follows the job or its model gets the events themselves.
    expect(changesOf(stream)[3]!.data).toEqual({ model_id: model, from: 0, to: 1 })
    stream.close()
  })

  test('of a model or a job has its events, and nothing of others', async () => {
    const { model, job, attempt } = await startJob()
    const other = await startJob('elsewhere')
    const streams = await Promise.all([
      open(`model:${model}`),
      open(`job:${job.toUpperCase()}`),
      open('project:elsewhere'),
      open(`job:${other.job},job:${job}`),
    ])
    await recordEvents(own.database.pool, attempt, [started, step(1)])
    await recordEvents(own.database.pool, other.attempt, [started])
    await recordEvents(own.database.pool, attempt, [step(2)])
    const [ofModel, ofJob, ofProject, ofBoth] = streams
    await eventually(() => expect(streams.map((stream) => stream.events.length)).toEqual([3, 3, 2, 5]))
    const typesOf = (stream: Stream | undefined) =>
      changesOf(stream!).flatMap(({ data }) => data.events?.map(({ type }) => type) ?? [])
    const types = ['training_started', 'gradient_step', 'gradient_step']
    expect([typesOf(ofModel), typesOf(ofJob), typesOf(ofProject)]).toEqual([types, types, []])
    expect(typesOf(ofBoth)).toHaveLength(4)
    for (const stream of streams) stream.close()
  })

  test('of a foreign model or job has nothing', async () => {
    const foreign = new TrainingRows(own.database.pool, `other-${randomUUID()}`)
    const model = await foreign.addModel()
    const stream = await open(`model:${model},project:project`)
    await foreign.addJob(model)
    const ownModel = await rows.addModel()
    await eventually(() => expect(stream.events).toHaveLength(1))
    expect(changesOf(stream)[0]).toMatchObject({ kind: 'model.created', id: ownModel })
    stream.close()
  })

  test('continues after the last event of an earlier one, on any server, without repeating or missing one', async () => {
    const { job, attempt } = await startJob()
    const first = await open('entity')
    await recordEvents(own.database.pool, attempt, [started])
    await first.waitFor(2)
    first.close()
    const last = first.frames.at(-1)!.id
    await recordEvents(own.database.pool, attempt, [step(1)])
    await cancelJob(own.database.pool, job)
    const second = await serveApi(stack, own.database.databaseUrl)
    try {
      const stream = await open('entity', { 'last-event-id': last }, second.url)
      await eventually(() => expect(kindsOf(stream)).toEqual(['training_job.events', 'training_job.cancelled']))
      const again = await openEventStream(`${own.server.url}${path}entity&after=${last}`, {
        authorization: `Bearer ${key}`,
      })
      await again.waitFor(2)
      expect(again.frames).toEqual(stream.frames)
      again.close()
      stream.close()
    } finally {
      await second.remove()
    }
  })

  test.each<[string, (position: number) => string]>([
    ['an hour ago', (position) => `${position}-${Math.floor(Date.now() / 1_000) - 3_601}`],
    ['of a newer database', (position) => `${position + 1_000_000}-${Math.floor(Date.now() / 1_000)}`],
  ])('after an event of %s begins with a reset', async (_, cursorOf) => {
    const first = await open('entity')
    await rows.addModel()
    await first.waitFor(1)
    first.close()
    const position = Number(first.frames[0]!.id.split('-')[0])
    const stream = await open('entity', { 'last-event-id': cursorOf(position) })
    await stream.waitFor(1)
    expect([stream.frames[0]!.event, stream.events[0]]).toEqual(['reset', { reason: 'too_old' }])
    await rows.addModel()
    await stream.waitFor(2)
    expect(stream.frames[1]!.event).toBe('change')
    stream.close()
  })

  test('of a client that has missed very much begins with a reset', async () => {
    const first = await open('entity')
    await rows.addModel()
    await first.waitFor(1)
    first.close()
    await own.database.pool.query(
      `INSERT INTO training.outbox (entity, project, kind, subject_id, data)
       SELECT $1, 'p', 'model.created', gen_random_uuid(), '{}' FROM generate_series(1, 501)`,
      [entity],
    )
    await eventually(async () => {
      const { rowCount } = await own.database.pool.query('SELECT FROM training.outbox WHERE position IS NULL')
      expect(rowCount).toBe(0)
    })
    const stream = await open('entity', { 'last-event-id': first.frames[0]!.id })
    await stream.waitFor(1)
    expect(stream.frames.map(({ event }) => event)).toEqual(['reset'])
    stream.close()
  })

  test('ends within a second with its key', async () => {
    const stream = await open('entity')
    expect(stream.status).toBe(200)
    const begunMs = performance.now()
    await own.database.pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE entity = $1', [entity])
    await stream.ended
    expect(stream.comments).toContain('closing')
    // The goal is a second. A loaded machine may take ten times as long.
    expect(performance.now() - begunMs).toBeLessThan(10_000)
  })

  test('works with a session, and ends within a second of its logout', async () => {
    const response = await fetch(`${own.server.url}/v1/preview/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: key }),
    })
    const cookie = response.headers.get('set-cookie')!.split(';')[0]!
    const stream = await openEventStream(`${own.server.url}${path}entity`, { cookie })
    expect(stream.status).toBe(200)
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    // Another browser with the same key goes on, and so does this one when its use is recorded.
    const other = await open('entity')
    await own.database.pool.query(
      'UPDATE auth.sessions SET used_at = now() WHERE key_id IN (SELECT id FROM auth.api_keys WHERE entity = $1)',
      [entity],
    )
    const begunMs = performance.now()
    await fetch(`${own.server.url}/v1/preview/session`, { method: 'DELETE', headers })
    await stream.ended
    // The goal is a second; without a notification it would be the next check, after 15 s.
    expect(performance.now() - begunMs).toBeLessThan(10_000)
    await rows.addModel()
    await other.waitFor(1)
    other.close()
  }, 60_000)

  test.each([
    ['', 422],
    ['all', 422],
    ['entity,', 422],
    ['model:1', 404],
    ['model:', 422],
    ['job:', 422],
    ['project:..', 422],
    [Array.from({ length: 51 }, (_, index) => `project:p${index}`).join(','), 422],
    ['entity&after=1', 422],
    ['entity&other=1', 422],
  ])('with the topics %s is %i', async (topics, status) => {
    expect((await open(topics)).status).toBe(status)
  })

  test('counts towards the limit of event streams', async () => {
    await own.database.pool.query('INSERT INTO auth.entities (entity, event_streams) VALUES ($1, 1)', [entity])
    const stream = await open('entity')
    expect([stream.status, (await open('entity')).status]).toEqual([200, 429])
    stream.close()
    await eventually(async () => {
      const next = await open('entity')
      next.close()
      expect(next.status).toBe(200)
    })
  })
})

test('changes about events are removed after two hours, and states are not', async () => {
  const { attempt } = await startJob()
  await recordEvents(own.database.pool, attempt, [started])
  const countKinds = async () => {
    const { rows: found } = await own.database.pool.query<{ kind: string }>(
      'SELECT kind FROM training.outbox WHERE entity = $1 AND position IS NOT NULL ORDER BY position',
      [entity],
    )
    return found.map(({ kind }) => kind)
  }
  await eventually(async () => expect(await countKinds()).toContain('training_job.running'))
  const all = await countKinds()
  await own.database.pool.query(`UPDATE training.outbox SET at = at - interval '2 hours 1 minute' WHERE entity = $1`, [
    entity,
  ])
  await expireOutbox(own.database.pool)
  expect(await countKinds()).toEqual(all.filter((kind) => kind !== 'training_job.events'))
})
