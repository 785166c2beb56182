import { afterAll, beforeAll, expect, test } from 'vitest'
import { failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { listen, type Listener } from '../../db/listen.ts'
import { recordCheckpoint, recordEvents, recordRelease } from '../../db/jobs/reports.ts'
import { createLogger } from '../../lib/log.ts'
import { useTestDatabase } from '../support/database.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()
let rows: TrainingRows
let listener: Listener
let heard: string[] = []

beforeAll(async () => {
  rows = new TrainingRows(database.pool)
  const onNotify = (channel: string, payload: string) => heard.push(`${channel} ${payload}`.trim())
  const channels = ['training_jobs', 'training_publishing', 'training_queue']
  await new Promise<void>((resolve) => {
    const handlers = { onNotify, onConnect: resolve }
    listener = listen(database.databaseUrl, channels, handlers, createLogger('test', 'silent'))
  })
})
afterAll(() => listener?.close())

/** What a change notifies, in order of channels. */
async function hear(change: () => Promise<unknown>): Promise<string[]> {
  heard = []
  await change()
  // Its answer comes after the notifications of all earlier commits.
  await listener.probe()
  return heard.toSorted()
}

test('a job notifies the operator of what others have changed, and status servers of what they may claim', async () => {
  const model = await rows.addModel()
  let job = ''
  expect(await hear(async () => (job = await rows.addJob(model, { state: 'Pending' })))).toEqual([])
  expect(await hear(() => queueJob(database.pool, job))).toEqual(['training_queue'])
  const ofJob = `training_jobs ${job}`
  const claimed = [] as Awaited<ReturnType<typeof rows.claim>>[]
  const claimNext = () => hear(async () => claimed.push(await rows.claim()))
  expect(await claimNext()).toEqual([ofJob])
  expect(await hear(() => recordRelease(database.pool, claimed[0]!.attempt))).toEqual([ofJob, 'training_queue'])
  expect(await claimNext()).toEqual([ofJob])
  const { attempt, claim } = claimed[1]!
  expect(await hear(() => recordEvents(database.pool, attempt, [started, step(1)]))).toEqual([ofJob])
  const ended = await hear(() => recordCheckpoint(database.pool, attempt, checkpointOf(claim)))
  expect(ended).toEqual([ofJob, `training_publishing ${job}`])
  expect(await hear(() => finishJob(database.pool, job))).toEqual([ofJob, 'training_queue'])
})

test('a job that fails before its turn frees the next one of its model', async () => {
  const job = await rows.addJob(await rows.addModel(), { state: 'Pending' })
  const failure = { category: 'User', reason: 'Bad', message: 'bad', retryable: false } as const
  expect(await hear(() => failJob(database.pool, job, failure))).toEqual([`training_jobs ${job}`, 'training_queue'])
})
