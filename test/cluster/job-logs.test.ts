import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { maxSeq, listJobLog, recordLog, type ReportedLine } from '../../db/jobs/logs.ts'
import { recordEvents, recordRelease } from '../../db/jobs/reports.ts'
import { removeModelRows } from '../../db/deletion/model-rows.ts'
import { useTestDatabase } from '../support/database.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken, startStatusServer } from '../support/status-server.ts'
import { started, TrainingRows } from '../support/training-rows.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const database = useTestDatabase()
let rows: TrainingRows

beforeEach(() => {
  rows = new TrainingRows(database.pool)
})

const line = (seq: number, text = `line ${seq}`): ReportedLine => ({
  seq,
  time: '2026-01-01T12:00:00.000Z',
  level: 'info',
  text,
})
const lines = (from: number, to: number, text?: string) =>
  Array.from({ length: to - from }, (_, index) => line(from + index, text))
const list = (id: string, page: { attempt?: number; after?: { attempt: number; seq: number }; limit?: number } = {}) =>
  listJobLog(database.pool, id, { limit: 5_000, ...page })
const record = (attempt: Attempt, added: ReportedLine[]) => recordLog(database.pool, attempt, added)

async function claimJob(): Promise<{ id: string; model: string; attempt: Attempt }> {
  const model = await rows.addModel()
  const id = await rows.addJob(model)
  return { id, model, attempt: (await rows.claim()).attempt }
}

describe('a log', () => {
  test('is stored once, even if its lines are sent repeatedly, and is read in pages', async () => {
    const { id, attempt } = await claimJob()
    expect(await record(attempt, [line(0), line(1)])).toBe('recorded')
    expect(await record(attempt, [line(0), line(1), { ...line(2, 'oh'), level: 'error' }])).toBe('recorded')
    expect(await list(id)).toEqual([
      { attempt: 1, seq: 0, at: new Date('2026-01-01T12:00:00Z'), level: 'info', text: 'line 0' },
      { attempt: 1, seq: 1, at: new Date('2026-01-01T12:00:00Z'), level: 'info', text: 'line 1' },
      { attempt: 1, seq: 2, at: new Date('2026-01-01T12:00:00Z'), level: 'error', text: 'oh' },
    ])
    const first = await list(id, { limit: 2 })
    expect((await list(id, { limit: 2, after: first[1]! })).map(({ seq }) => seq)).toEqual([2])
    expect(await list(id, { attempt: 2 })).toEqual([])
    expect(await list(randomUUID())).toEqual([])
  })

  test('is complete up to a thousand lines, and then says that the rest was left out', async () => {
    const { id, attempt } = await claimJob()
    await record(attempt, lines(0, 999))
    await record(attempt, [line(999)])
    expect(await list(id)).toHaveLength(1_000)
    await record(attempt, lines(1_000, 1_002))
    await record(attempt, lines(1_002, 1_003))
    const kept = await list(id)
    expect(kept).toHaveLength(1_001)
    expect(kept.at(-1)).toMatchObject({
      level: 'warn',
      text: "The rest of this attempt's log was dropped. At most 1000 lines or 256 KiB are kept",
    })
  })

  test('is accepted while the attempt ends', async () => {
    for (let times = 0; times < 100; times++) {
      const { id, attempt } = await claimJob()
      const ends = [record(attempt, [line(0)]), recordRelease(database.pool, attempt), record(attempt, [line(1)])]
      expect(await Promise.all(ends)).toEqual(['recorded', 'recorded', 'recorded'])
      await cancelJob(database.pool, id)
    }
  })

  test('of more than 256 KiB ends before the first line that does not fit, and accepts no later line', async () => {
    const { id, attempt } = await claimJob()
    await record(attempt, lines(0, 31, 'ü'.repeat(4_096)))
    await record(attempt, [line(31, 'ü'.repeat(4_097)), line(32, 'small')])
    await record(attempt, [line(33, 'small')])
    expect((await list(id)).map(({ seq }) => seq).slice(30)).toEqual([30, 2_000_000_000])
  })

  test('is accepted from the pod that held the attempt, even after it lost the job, and from no other', async () => {
    const { id, attempt } = await claimJob()
    await recordEvents(database.pool, attempt, [started])
    await rows.expireLease(id)
    await rows.releaseExpiredLeases()
    const second = (await rows.claim()).attempt
    expect(await record(attempt, [line(maxSeq)])).toBe('recorded')
    expect(await record(second, [line(0)])).toBe('recorded')
    expect(await record({ ...second, podUid: attempt.podUid }, [line(1)])).toBe('fenced')
    expect(await record({ ...attempt, attempt: 3 }, [line(1)])).toBe('fenced')
    expect(await record({ ...attempt, jobId: randomUUID() }, [line(1)])).toBe('fenced')
    expect((await list(id)).map((each) => [each.attempt, each.seq, each.level])).toEqual([
      [1, maxSeq, 'info'],
      [1, 2_000_000_001, 'error'],
      [2, 0, 'info'],
    ])
  })

  test.each<[string, (id: string) => Promise<boolean>]>([
    ['cancelled', (id) => cancelJob(database.pool, id)],
    ['failed', (id) => failJob(database.pool, id, { category: 'User', reason: 'X', message: 'x', retryable: false })],
  ])('of a %s attempt gets its last lines', async (_name, end) => {
    const { id, attempt } = await claimJob()
    expect(await end(id)).toBe(true)
    expect(await record(attempt, [line(0)])).toBe('recorded')
    expect(await list(id)).toHaveLength(1)
  })

  test('says that the trainer was lost, once', async () => {
    const { id } = await claimJob()
    await rows.expireLease(id)
    await Promise.all([rows.releaseExpiredLeases(), rows.releaseExpiredLeases()])
    const kept = await list(id)
    expect(kept).toEqual([
      { attempt: 1, seq: 2_000_000_001, at: expect.any(Date), level: 'error', text: expect.any(String) },
    ])
    expect(kept[0]!.text).toMatch(/^The trainer stopped without a report/)
  })

  test('is removed with its model, and late lines do not restore it', async () => {
    const { id, model, attempt } = await claimJob()
    await record(attempt, [line(0)])
    await removeModelRows(database.pool, model)
    expect(await record(attempt, [line(1)])).toBe('fenced')
    expect(await list(id)).toEqual([])
  })

  test('that is sent twice at the same time is kept once', async () => {
    const { id, attempt } = await claimJob()
    await Promise.all(Array.from({ length: 10 }, () => record(attempt, lines(0, 200))))
    expect(await list(id)).toHaveLength(200)
  })
})

test('over the status server contains GPUs, and no secrets', async () => {
  const server = await startStatusServer(stack, database.databaseUrl)
  try {
    const token = await makeTrainerToken(stack, server.namespace)
    const report = (path: string, body: unknown) => post(server.url + path, token, body)
    const id = await rows.addJob(await rows.addModel())
    const claimed = await report('/v1/claims', {
      base_model: rows.baseModel,
      process_id: randomUUID(),
      wait_seconds: 5,
      gpus: 2,
      holding: [],
    })
    expect(claimed.status).toBe(200)
    const { rows: jobs } = await database.pool.query('SELECT gpus FROM training.jobs WHERE id = $1', [id])
    expect(jobs).toEqual([{ gpus: 2 }])
    const reported = [
      { ...line(0, `no Bearer ${token}, nor ty_abcdefghijkl\0\ud800`), time: '2026-01-01T13:00:00.5+01:00' },
      line(1, 'x'.repeat(20_000)),
    ]
    expect((await report(`/v1/jobs/${id}/attempts/1/log`, { lines: reported })).status).toBe(200)
    const [first, second] = await list(id)
    expect(first).toMatchObject({
      text: 'no Bearer ***, nor ty_***\uFFFD\uFFFD',
      at: new Date('2026-01-01T12:00:00.5Z'),
    })
    expect(second!.text).toHaveLength(8_000)
    expect((await report(`/v1/jobs/${id}/attempts/2/log`, { lines: reported })).status).toBe(409)
    expect((await report(`/v1/jobs/${id}/attempts/1/log`, { lines: [{ ...line(2), time: 'now' }] })).status).toBe(422)
  } finally {
    await server.remove()
  }
})
