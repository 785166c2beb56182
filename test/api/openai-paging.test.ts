import { randomUUID } from 'node:crypto'
import OpenAI from 'openai'
import { CursorPage } from 'openai/pagination'
import { expect, test } from 'vitest'
import { recordCheckpoint, recordEvents } from '../../db/jobs/reports.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'

const own = useApiServer()

class Page extends CursorPage<{ id: string }> {}

test('the openai SDK pages through jobs, events and checkpoints in both directions, and stops at the end', async () => {
  const rows = new TrainingRows(own.database.pool, `team-${randomUUID()}`)
  const apiKey = await addKey(own.database.pool, rows.entity, 'read')
  const client = new OpenAI({ baseURL: `${own.server.url}/v1`, apiKey, maxRetries: 0 })
  const walk = async (path: string, query: Record<string, unknown>) => {
    const ids: string[] = []
    for await (const { id } of client.getAPIList<{ id: string }, Page>(path, Page, { query })) ids.push(id)
    return ids
  }
  const model = await rows.addModel()
  const jobs: string[] = []
  const checkpoints: string[] = []
  for (let index = 0; index < 5; index++) {
    const id = await rows.addJob(model)
    const { claim, attempt } = await rows.claim()
    const steps = Array.from({ length: 45 }, (_, seq) => step(seq + 1))
    await recordEvents(own.database.pool, attempt, [started, ...steps])
    await recordCheckpoint(own.database.pool, attempt, checkpointOf(claim))
    await finishJob(own.database.pool, id)
    jobs.push(id)
    checkpoints.push(claim.checkpointId)
  }
  expect(await walk('/preview/training-jobs', { limit: 2 })).toEqual(jobs)
  expect(await walk('/preview/training-jobs', { limit: 2, order: 'desc', state: ['Succeeded', 'Failed'] })).toEqual(
    jobs.toReversed(),
  )
  const ofModel = `/preview/models/${model}/checkpoints`
  expect(await walk(ofModel, { limit: 5 })).toEqual(checkpoints)
  expect(await walk(ofModel, { limit: 1, order: 'desc' })).toEqual(checkpoints.toReversed())
  const { rows: events } = await own.database.pool.query<{ id: string }>(
    'SELECT id FROM training.events WHERE job_id = $1 ORDER BY seq',
    [jobs[0]],
  )
  expect(events).toHaveLength(47)
  const ofJob = `/preview/training-jobs/${jobs[0]}/events`
  expect(await walk(ofJob, {})).toEqual(events.map(({ id }) => id))
  expect(await walk(ofJob, { order: 'desc' })).toEqual(events.map(({ id }) => id).toReversed())
  await expect(client.get(`${ofJob}?order=desc&wait=1`)).rejects.toThrow('events that are waited for come in the order')
  const headers = { accept: 'text/event-stream' }
  await expect(client.get(`${ofJob}?order=desc`, { headers })).rejects.toThrow('the order asc')
})
