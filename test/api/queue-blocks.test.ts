import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { claimJob, type Claim } from '../../db/jobs/claims.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { setPaused } from '../../db/accounts/pauses.ts'
import { listQueuePositions } from '../../db/jobs/queue.ts'
import { recordEvents } from '../../db/jobs/reports.ts'
import { addKey, serveApi, useApiServer } from '../support/api-server.ts'
import { setLimits } from '../support/entity-limits.ts'
import { nodeEnv } from '../support/node-env.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useServices } from '../support/services.ts'
import { addTrainingEntity } from '../support/training-entity.ts'
import { started, TrainingRows } from '../support/training-rows.ts'

const stack = useServices()
const own = useApiServer()
const run = promisify(execFile)
let mine: TrainingRows
let others: TrainingRows
let api: Rest

interface Job {
  queue: { position: number; reason: string; message: string }
  waiting: { reason: string; sentence: string; position: number }
}
interface Limits {
  paused: boolean
  paused_by_administrator: boolean
  gpu_seconds_per_day: number | null
  in_use: { gpu_seconds_today: number }
}

// Two entities of the test's own share a base model.
beforeEach(async () => {
  ;({ rows: mine, api } = await addTrainingEntity(own, 'admin'))
  others = new TrainingRows(own.database.pool, `other-${randomUUID()}`, mine.baseModel)
})

const addJob = async (rows: TrainingRows) => rows.addJob(await rows.addModel())
const claim = (gpus = 1): Promise<Claim | undefined> => claimJob(own.database.pool, { ...mine.trainer(), gpus })
const read = (id: string) => api.call<Job>('GET', `/v1/preview/training-jobs/${id}`)
const readLimits = () => api.call<Limits>('GET', '/v1/preview/limits')
const pause = (paused: unknown, rest = api) => rest.send('PUT', '/v1/preview/limits/paused', { paused })

/** Runs the administrator's command as in the image. Returns what it prints for people. */
async function queue(...args: string[]): Promise<string> {
  const env = { ...process.env, ...nodeEnv, DATABASE_URL: own.database.databaseUrl }
  const { stdout, stderr } = await run(process.execPath, ['apiserver/accounts/admin/main.ts', 'queue', ...args], {
    env,
  })
  return stdout + stderr
}

describe('a pause', () => {
  test('by an admin of the entity keeps its waiting jobs, and no others; running jobs go on', async () => {
    const running = await addJob(mine)
    const held = await claim()
    expect(held?.id).toBe(running)
    const waiting = await addJob(mine)
    const other = await addJob(others)
    expect((await (await pause(true)).json()) as Limits).toMatchObject({ paused: true, paused_by_administrator: false })
    const { rows } = await own.database.pool.query<{ pod: string }>(
      'SELECT holder_pod AS pod FROM training.jobs WHERE id = $1',
      [running],
    )
    const attempt = { jobId: running, attempt: 1, podUid: rows[0]!.pod }
    expect(await recordEvents(own.database.pool, attempt, [started])).toBe('recorded')
    expect(await read(waiting)).toMatchObject({
      queue: { position: 2, reason: 'Paused' },
      waiting: { reason: 'Paused', position: 2, sentence: expect.stringContaining('Paused by an admin of its entity') },
    })
    expect((await claim())?.id).toBe(other)
    expect(await claim()).toBeUndefined()
    expect((await pause(false)).status).toBe(200)
    expect(await read(waiting)).toMatchObject({ waiting: { reason: 'WaitingForTrainer', position: 1 } })
    expect((await claim())?.id).toBe(waiting)
  })

  test('is for admins, and has one member', async () => {
    expect((await pause(true, await own.join(mine.entity, 'member'))).status).toBe(403)
    for (const wrong of [1, 'yes', null, undefined, {}]) expect((await pause(wrong)).status).toBe(422)
    expect(await readLimits()).toMatchObject({ paused: false, paused_by_administrator: false })
  })

  test('is recorded once for each change', async () => {
    for (const paused of [true, true, false, false]) await pause(paused)
    const acts = await api.listAll<{ id: string; action: string; details: object }>('/v1/preview/audit-log')
    expect(acts.map(({ action }) => action)).toEqual(['jobs.paused', 'jobs.resumed'])
  })

  test('by the administrator is of an entity or of all, and no entity ends it', async () => {
    const { pool } = own.database
    onTestFinished(async () => {
      await setPaused(pool, { entity: '*', byAdministrator: true, actor: 'command' }, false)
    })
    const [job, other] = [await addJob(mine), await addJob(others)]
    expect(await queue('pause', mine.entity)).toBe(
      `The jobs of ${mine.entity} are paused: jobs that run go on, and no other begins.\n`,
    )
    expect((await pause(false)).status).toBe(200)
    expect(await readLimits()).toMatchObject({ paused: false, paused_by_administrator: true })
    expect(await read(job)).toMatchObject({
      waiting: { reason: 'Paused', sentence: expect.stringContaining('all waiting jobs of its entity'), position: 2 },
    })
    expect(await queue('pause')).toContain('The jobs of all entities are paused')
    expect(await claim()).toBeUndefined()
    expect((await queue('list')).split('\n').map((line) => line.replace(/^\S+ +/, ''))).toEqual([
      expect.stringMatching(/^SINCE +BY +ENTITY$/),
      'the administrator  all entities',
      `the administrator  ${mine.entity}`,
      '',
    ])
    // All are paused, so the places are those of the usual order.
    expect((await read(job)).waiting).toMatchObject({
      position: 1,
      sentence: expect.stringContaining('like all jobs that'),
    })
    await queue('resume')
    expect((await claim())?.id).toBe(other)
    expect(await claim()).toBeUndefined()
    expect(await queue('resume', mine.entity)).toContain('not paused by this command any more')
    expect(await queue('list')).toBe('Nothing is paused.\n')
    expect((await claim())?.id).toBe(job)
  })
})

describe('GPU seconds of a day', () => {
  const addUsage = (entity: string, seconds: number, when: string) =>
    own.database.pool.query(
      `INSERT INTO training.usage (entity, hour, base_model, gpu_seconds) VALUES ($1, ${when}, 'other', $2)`,
      [entity, seconds],
    )
  const today = `date_trunc('day', now(), 'UTC')`

  test('keep the waiting jobs of an entity that has used them, until the next day', async () => {
    const { pool } = own.database
    await setLimits(pool, mine.entity, { gpuSecondsPerDay: 100 })
    await addUsage(mine.entity, 5_000, `${today} - interval '1 hour'`)
    await addUsage(others.entity, 5_000, today)
    await addUsage(mine.entity, 99, today)
    const [first, second, other] = [await addJob(mine), await addJob(mine), await addJob(others)]
    expect(await readLimits()).toMatchObject({ gpu_seconds_per_day: 100, in_use: { gpu_seconds_today: 99 } })
    const began = [await claim(), await claim()].map((each) => each?.id)
    expect(new Set(began)).toEqual(new Set([first, other]))
    // An attempt that runs counts from its claim, and half on a trainer that has two.
    const since = (seconds: number) =>
      pool.query(`UPDATE training.jobs SET claimed_at = now() - make_interval(secs => $2) WHERE id = $1`, [
        first,
        seconds,
      ])
    await since(0.5)
    expect((await read(second)).waiting.reason).toBe('WaitingForTrainer')
    await since(60)
    const { in_use } = await readLimits()
    expect(in_use.gpu_seconds_today).toBeGreaterThan(158)
    expect(in_use.gpu_seconds_today).toBeLessThan(300)
    expect(await read(second)).toMatchObject({
      queue: { reason: 'GpuSecondsUsed' },
      waiting: { reason: 'GpuSecondsUsed', sentence: expect.stringMatching(/It begins at \S+T00:00:00Z or later/) },
    })
    expect(await claim()).toBeUndefined()
    await setLimits(pool, mine.entity, { gpuSecondsPerDay: 1_000 })
    expect((await claim())?.id).toBe(second)
  })

  test('of an ended attempt are those of its usage, with all GPUs of its trainer', async () => {
    const { pool } = own.database
    await setLimits(pool, mine.entity, { gpuSecondsPerDay: 15 })
    const [first, second] = [await addJob(mine), await addJob(mine)]
    expect((await claim(4))?.id).toBe(first)
    await pool.query(`UPDATE training.jobs SET claimed_at = now() - interval '5 s' WHERE id = $1`, [first])
    await cancelJob(pool, first)
    const { in_use } = await readLimits()
    expect(in_use.gpu_seconds_today).toBeGreaterThan(19)
    const usage = await api.call<{ data: { gpu_seconds: number }[] }>('GET', '/v1/preview/usage?group_by=day')
    expect(usage.data[0]?.gpu_seconds).toBeCloseTo(in_use.gpu_seconds_today, 3)
    expect(await claim()).toBeUndefined()
    expect((await read(second)).waiting.reason).toBe('GpuSecondsUsed')
  })

  test('are limited by the default of the installation for entities without a limit of their own', async () => {
    const { pool, databaseUrl } = own.database
    const variables = { TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY: '100' }
    const server = await serveApi(stack, databaseUrl, variables)
    onTestFinished(server.remove)
    const rest = createRest({ ...stack, url: server.url }, await addKey(pool, mine.entity))
    for (const { entity } of [mine, others]) await addUsage(entity, 100, today)
    await setLimits(pool, others.entity, { gpuSecondsPerDay: 1_000 })
    const [held, other] = [await addJob(mine), await addJob(others)]
    expect(await rest.call('GET', '/v1/preview/limits')).toMatchObject({ gpu_seconds_per_day: 100 })
    const args = ['apiserver/accounts/admin/main.ts', 'limits', mine.entity]
    const env = { ...process.env, ...nodeEnv, DATABASE_URL: databaseUrl, ...variables }
    expect((await run(process.execPath, args, { env })).stdout).toMatch(/gpu-seconds-per-day\s+100 \(default\)/)
    expect(await rest.call('GET', `/v1/preview/training-jobs/${held}`)).toMatchObject({
      queue: { reason: 'GpuSecondsUsed' },
    })
    const positions = await listQueuePositions({ pool, defaultGpuSeconds: 100 })
    expect([positions.get(held)?.block, positions.get(other)?.block]).toEqual(['gpu_seconds', null])
    const claimWith = (gpuSecondsPerDay: number) =>
      claimJob(pool, { ...mine.trainer(), gpus: 1 }, { weight: 1, gpuSecondsPerDay })
    expect((await claimWith(100))?.id).toBe(other)
    expect(await claimWith(100)).toBeUndefined()
    // With a default of 0, an entity that has used nothing has to wait too.
    const unused = new TrainingRows(pool, `new-${randomUUID()}`, mine.baseModel)
    const first = await addJob(unused)
    expect(await claimWith(0)).toBeUndefined()
    expect((await claimWith(1))?.id).toBe(first)
    expect((await claimWith(101))?.id).toBe(held)
  })

  test('of 0 let no job begin, and without a limit any does', async () => {
    const { pool } = own.database
    const job = await addJob(mine)
    await setLimits(pool, mine.entity, { gpuSecondsPerDay: 0 })
    expect(await claim()).toBeUndefined()
    await setLimits(pool, mine.entity, { gpuSecondsPerDay: Infinity })
    expect((await readLimits()).gpu_seconds_per_day).toBeNull()
    expect((await claim())?.id).toBe(job)
  })
})

test('a waiting job whose model has a later job active has that one before it', async () => {
  const { pool } = own.database
  const model = await mine.addModel()
  const [first, later] = [await mine.addJob(model), await mine.addJob(model, { state: 'Pending' })]
  await addJob(others)
  await pool.query(`UPDATE training.jobs SET state = 'Running', attempt = 1 WHERE id = $1`, [later])
  expect(await read(first)).toMatchObject({
    queue: { position: 2, reason: 'WaitingForModel' },
    waiting: {
      position: 2,
      holder: { job_id: later, state: 'Running' },
      sentence: expect.stringContaining('1 job of its model is before it, which is Running') as string,
    },
  })
})
