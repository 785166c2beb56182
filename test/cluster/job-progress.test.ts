import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { renewLease } from '../../db/jobs/leases.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { listJobLog } from '../../db/jobs/logs.ts'
import { findJob } from '../../db/jobs/views.ts'
import { decideLostAttempts } from '../../db/jobs/lost-attempts.ts'
import { recordProgress } from '../../db/jobs/progress.ts'
import { recordCheckpoint, recordEvents, recordRelease } from '../../db/jobs/reports.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { createLogger } from '../../lib/log.ts'
import { expireProgress } from '../../operator/retention/files.ts'
import { sweepGarbage } from '../../operator/gc/sweep.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken, startStatusServer } from '../support/status-server.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'
import { postJson } from '../support/post.ts'

const stack = useStack()
const database = useTestDatabase()
let rows: TrainingRows

beforeEach(() => {
  rows = new TrainingRows(database.pool)
})

const digest = 'ab'.repeat(32)
const save = async (attempt: Attempt, at: number, id: string = randomUUID()) => {
  expect(await recordProgress(database.pool, attempt, { id, digest, step: at })).toBe('recorded')
  return id
}
test('a step and a save are reports, which have times; a heartbeat is none', async () => {
  await rows.addJob(await rows.addModel())
  const { attempt } = await rows.claim()
  const readTime = async () => {
    const { rows: found } = await database.pool.query<{ at: Date | null }>(
      'SELECT reported_at AS at FROM training.jobs WHERE id = $1',
      [attempt.jobId],
    )
    return Number(found[0]?.at)
  }
  expect(await readTime()).toBe(0)
  await recordEvents(database.pool, attempt, [started])
  const first = await readTime()
  await recordEvents(database.pool, attempt, [step(1)])
  const second = await readTime()
  await save(attempt, 1)
  const third = await readTime()
  await renewLease(database.pool, attempt)
  expect(await readTime()).toBe(third)
  expect(first > 0 && second > first && third > second).toBe(true)
})

const resumeAt = (jobId: string, id: string, at: number) => ({
  uri: `artifact:///progress/${jobId}/${id}`,
  digest,
  step: at,
})

async function claimJob(maxAttempts = 6) {
  const job = await rows.addJob(await rows.addModel(), { maxAttempts })
  return { job, ...(await rows.claim()) }
}

describe('saved progress', () => {
  test('is passed to the next attempt: the newest save, with the finished steps', async () => {
    const { job, claim, attempt } = await claimJob()
    expect(claim).toMatchObject({ resume: null, reference: null, entity: 'team' })
    await recordEvents(database.pool, attempt, [started, step(1), step(2)])
    await save(attempt, 1)
    const newest = await save(attempt, 2)
    await rows.expireLease(job)
    await rows.releaseExpiredLeases()
    const again = await rows.claim()
    expect(again.claim).toMatchObject({ id: job, attempt: 2, resume: resumeAt(job, newest, 2) })
    expect(await rows.readJob(job)).toMatchObject({ state: 'Starting', progress_step: 2, progress_total: 2 })
    expect(await recordEvents(database.pool, again.attempt, [started, step(1), step(2), step(3)])).toBe('recorded')
    expect(await rows.listEvents(job)).toHaveLength(4)
  })

  test('of a later attempt counts, even if it has fewer steps; a late or repeated report is never the newest', async () => {
    const { job, attempt } = await claimJob()
    const first = await save(attempt, 7)
    await save(attempt, 9)
    await save(attempt, 7, first)
    await rows.expireLease(job)
    await rows.releaseExpiredLeases()
    const second = await rows.claim()
    const anew = await save(second.attempt, 1)
    expect(await recordProgress(database.pool, attempt, { id: randomUUID(), digest, step: 10 })).toBe('fenced')
    await rows.expireLease(job)
    await rows.releaseExpiredLeases()
    expect((await rows.claim()).claim.resume).toEqual(resumeAt(job, anew, 1))
  })

  test('renews the lease', async () => {
    const { job, attempt } = await claimJob()
    await rows.expireLease(job)
    await save(attempt, 1)
    expect(await rows.releaseExpiredLeases()).toEqual([])
  })

  test('is rejected from another pod, and when the job is trained or has ended', async () => {
    const { job, claim, attempt } = await claimJob()
    const progress = { id: randomUUID(), digest, step: 1 }
    const elsewhere = { ...attempt, podUid: randomUUID() }
    expect(await recordProgress(database.pool, elsewhere, progress)).toBe('fenced')
    await recordCheckpoint(database.pool, attempt, checkpointOf(claim))
    expect(await recordProgress(database.pool, attempt, progress)).toBe('fenced')
    const cancelled = await claimJob()
    await cancelJob(database.pool, cancelled.job)
    expect(await recordProgress(database.pool, cancelled.attempt, progress)).toBe('fenced')
    expect((await rows.readJob(job)).state).toBe('Publishing')
  })
})

describe('files of saved progress', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'progress-'))
    return () => rm(root, { recursive: true })
  })
  const folderOf = (...names: string[]) => path.join(root, 'progress', ...names)
  const clean = () => expireProgress({ pool: database.pool, artifacts: new FolderStore(root) })
  const saveFiles = async (attempt: Attempt, at: number) => {
    const id = randomUUID()
    await mkdir(folderOf(attempt.jobId, id), { recursive: true })
    await writeFile(path.join(folderOf(attempt.jobId, id), 'manifest.json'), '{}')
    return save(attempt, at, id)
  }

  test('are removed when there is a newer save, and all of them when the job has ended', async () => {
    const { job, attempt } = await claimJob()
    const saved = [await saveFiles(attempt, 1), await saveFiles(attempt, 2)]
    const other = await claimJob()
    const kept = await saveFiles(other.attempt, 1)
    const there = () => saved.map((id) => existsSync(folderOf(job, id)))
    await clean()
    expect(there()).toEqual([false, true])
    const unregistered = folderOf(job, randomUUID())
    await mkdir(unregistered)
    await writeFile(path.join(unregistered, 'manifest.json'), '{}')
    await cancelJob(database.pool, job)
    await clean()
    expect([...there(), existsSync(unregistered)]).toEqual([false, false, false])
    expect(existsSync(folderOf(other.job, kept))).toBe(true)
    const { rows: left } = await database.pool.query('SELECT id FROM training.job_progress WHERE job_id = $1', [job])
    expect(left).toEqual([])
  })
})

test('unregistered saves are garbage after a while', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'progress-'))
  try {
    const { job, attempt } = await claimJob()
    const known = await save(attempt, 1)
    const names = [known, randomUUID()].map((id) => `progress/${job}/${id}/manifest.json`)
    names.push(`progress/${randomUUID()}/${randomUUID()}/manifest.json`)
    for (const name of names) {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true })
      await writeFile(path.join(root, name), '{}')
      await utimes(path.join(root, name), 0, 0)
    }
    const databases = { pool: database.pool, tracing: database.pool }
    const deps = { ...databases, artifacts: new FolderStore(root), log: createLogger('test', 'silent') }
    expect(await sweepGarbage(deps)).toEqual({ found: 2, removed: 0, trouble: undefined })
    await database.pool.query(`UPDATE training.garbage SET quarantined_at = quarantined_at - interval '8 days'`)
    expect(await sweepGarbage(deps)).toEqual({ found: 2, removed: 2, trouble: undefined })
    expect(names.map((name) => existsSync(path.join(root, name)))).toEqual([true, false, false])
  } finally {
    await rm(root, { recursive: true })
  }
})

test.each<[string, (path: string, project: string) => [string, string]]>([
  ['a model is deleted', (model) => ['DELETE', model]],
  ['its project is erased', (_, project) => ['DELETE', `/v1/preview/projects/${project}`]],
])('saves of its jobs are removed, registered or not, when %s', async (_, request) => {
  const rest = createRest(stack)
  const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  try {
    const project = `progress-${randomUUID().slice(0, 8)}`
    const body = { project, base_model: stack.baseModel }
    const model = await rest.call<{ id: string }>('POST', '/v1/preview/models', body)
    // Recent files may belong to a write in progress, so they are not erased.
    await pool.query(`UPDATE training.models SET created_at = created_at - interval '2 minutes' WHERE id = $1`, [
      model.id,
    ])
    const job = await new ModelRows(pool, stack.artifacts).addJob(model.id, 'Running')
    await pool.query('UPDATE training.jobs SET claimed_at = now() WHERE id = $1', [job])
    const folder = path.join(stack.artifacts, 'progress', job, randomUUID())
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'manifest.json'), '{}')
    await rest.call(...request(`/v1/preview/models/${model.id}`, project))
    await eventually(() => expect(existsSync(folder)).toBe(false))
  } finally {
    await pool.end()
  }
})

describe('a job that its trainer returns', () => {
  test('waits at once in its old position, and has the reason', async () => {
    const { job, attempt } = await claimJob()
    await recordEvents(database.pool, attempt, [started, step(1)])
    await save(attempt, 1)
    for (let times = 0; times < 2; times++) expect(await recordRelease(database.pool, attempt)).toBe('recorded')
    const message =
      'Its trainer was stopped and returned the job to the queue; the next attempt continues after gradient step 1'
    const failure = { category: 'Internal', reason: 'TrainerStopped', message, retryable: true }
    expect(await rows.readJob(job)).toMatchObject({ state: 'Queued', attempt: 1, failure })
    const log = await listJobLog(database.pool, job, { limit: 10 })
    expect(log).toMatchObject([{ attempt: 1, level: 'info', text: message }])
    expect(await renewLease(database.pool, attempt)).toBe(false)
    expect(await recordEvents(database.pool, attempt, [step(2)])).toBe('fenced')
    expect((await rows.claim()).claim).toMatchObject({ id: job, attempt: 2, resume: { step: 1 } })
    expect(await recordRelease(database.pool, attempt)).toBe('fenced')
  })

  test('has as many attempts left as before', async () => {
    const { job, attempt } = await claimJob(2)
    await recordRelease(database.pool, attempt)
    await recordRelease(database.pool, (await rows.claim()).attempt)
    expect(await findJob({ pool: database.pool, defaultGpuSeconds: Infinity }, 'team', job)).toMatchObject({
      attempt: 2,
      maxAttempts: 4,
    })
    const states = []
    for (let tries = 0; tries < 2; tries++) {
      const { podUid } = (await rows.claim()).attempt
      await rows.expireLease(job)
      await rows.releaseExpiredLeases()
      await decideLostAttempts(database.pool, podUid, { counts: true, reason: 'TrainerLost', message: 'it hangs' })
      states.push((await rows.readJob(job)).state)
    }
    expect(states).toEqual(['Queued', 'Failed'])
    expect(await rows.readErrorMessage(job)).toMatch(/\(tried 2 times\)$/)
  })

  test('starts again if nothing was saved', async () => {
    const { job, attempt } = await claimJob()
    await recordRelease(database.pool, attempt)
    const { failure } = await rows.readJob(job)
    expect(failure?.message).toBe(
      'Its trainer was stopped and returned the job to the queue; the next attempt starts it again',
    )
  })
})

describe('the reference of a job', () => {
  const addReferring = (at: number) => addAfterSteps(2, { kl_penalty_coef: 0.1, kl_penalty_reference_step: at })
  const addAfterSteps = async (steps: number, config: object) => {
    const model = await rows.addModel()
    for (let made = 0; made < steps; made++) await rows.train(await rows.addJob(model)).then(finish)
    return { model, job: await rows.addJob(model, { config: { ...config } }) }
  }
  const deleteStep = (model: string, at: number) =>
    database.pool.query('UPDATE training.checkpoints SET deleted_at = now() WHERE model_id = $1 AND step = $2', [
      model,
      at,
    ])
  const readCheckpoint = async (model: string, at: number) => {
    const query = 'SELECT uri, digest FROM training.checkpoints WHERE model_id = $1 AND step = $2'
    return (await database.pool.query(query, [model, at])).rows[0]
  }
  const finish = ({ claim }: { claim: { id: string } }) =>
    database.pool.query(`UPDATE training.jobs SET state = 'Succeeded', finished_at = now() WHERE id = $1`, [claim.id])

  test('is the checkpoint of that step', async () => {
    const { model } = await addReferring(1)
    const { claim } = await rows.claim()
    expect(claim.reference).toEqual(await readCheckpoint(model, 1))
    expect(claim.fromCheckpoint?.step).toBe(2)
  })

  test('is the base model for step 0', async () => {
    await addReferring(0)
    expect((await rows.claim()).claim.reference).toBeNull()
  })

  test.each([
    [1, 2],
    [2, 1],
  ])('is so many steps before the one that it begins from: %i before 3 is %i', async (lag, at) => {
    const { model } = await addAfterSteps(3, { kl_penalty_coef: 0.1, kl_penalty_step_lag: lag })
    expect((await rows.claim()).claim.reference).toEqual(await readCheckpoint(model, at))
  })

  test.each([3, 9])('is the base model if there are not so many steps: %i before 3', async (lag) => {
    await addAfterSteps(3, { kl_penalty_coef: 0.1, kl_penalty_step_lag: lag })
    expect((await rows.claim()).claim.reference).toBeNull()
  })

  test('is the base model with a lag in the first job of a model', async () => {
    await addAfterSteps(0, { kl_penalty_coef: 0.1, kl_penalty_step_lag: 1 })
    expect((await rows.claim()).claim).toMatchObject({ reference: null, fromCheckpoint: null })
  })

  test.each([{ kl_penalty_reference_step: 1 }, { kl_penalty_step_lag: 1, kl_penalty_coef: -1 }])(
    'is not needed without a penalty: %j',
    async (config) => {
      const { model, job } = await addAfterSteps(2, config)
      await deleteStep(model, 1)
      expect((await rows.claim()).claim).toMatchObject({ id: job, reference: null })
    },
  )

  test('that a lag leads to and that is deleted fails the job', async () => {
    const { model, job } = await addAfterSteps(2, { kl_penalty_coef: 0.1, kl_penalty_step_lag: 1 })
    await deleteStep(model, 1)
    const next = await rows.addJob(await rows.addModel())
    expect((await rows.claim()).claim.id).toBe(next)
    expect(await rows.readErrorMessage(job)).toBe(
      'kl_penalty_step_lag is 1, so that the reference is step 1, but the model has no such step, or it was deleted',
    )
  })

  test('that is missing or deleted fails the job before an attempt, and the next job is assigned', async () => {
    const missing = await addReferring(7)
    const deleted = await addReferring(1)
    await deleteStep(deleted.model, 1)
    const next = await rows.addJob(await rows.addModel())
    expect((await rows.claim()).claim.id).toBe(next)
    const message = (at: number) =>
      `kl_penalty_reference_step is ${at}, but the model has no such step, or it was deleted`
    for (const [job, at] of [[missing.job, 7] as const, [deleted.job, 1] as const]) {
      const failure = { category: 'User', reason: 'StepNotFound', message: message(at), retryable: false }
      expect(await rows.readJob(job)).toMatchObject({ state: 'Failed', attempt: 0, failure })
      expect(await rows.readErrorMessage(job)).toBe(message(at))
    }
  })
})

test('a trainer claims a second job, saves and returns it; reports on other jobs are rejected with a message', async () => {
  const server = await startStatusServer(stack, database.databaseUrl)
  try {
    const token = await makeTrainerToken(stack, server.namespace)
    const report = (url: string, body: unknown) => postJson(server.url + url, token, body)
    const [first, second] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    const asking = { base_model: rows.baseModel, process_id: randomUUID(), wait_seconds: 0, gpus: 0 }
    expect((await report('/v1/claims', { ...asking, holding: [] })).body).toMatchObject({ id: first, resume: null })
    expect((await report('/v1/claims', { ...asking, holding: [first] })).body).toMatchObject({ id: second })
    expect((await report('/v1/claims', { ...asking, holding: [first, second] })).status).toBe(204)
    expect((await report('/v1/claims', { ...asking, holding: ['x'] })).status).toBe(422)

    const attempt = `/v1/jobs/${first}/attempts/1`
    const saved = { uri: `artifact:///progress/${first}/${randomUUID()}`, digest, step: 3 }
    expect(await report(`${attempt}/progress`, saved)).toEqual({ status: 200, body: {} })
    const refused: [object, number][] = [
      [{ ...saved, uri: `artifact:///progress/${second}/${randomUUID()}` }, 422],
      [{ ...saved, uri: `artifact:///checkpoints/${randomUUID()}` }, 422],
      [{ ...saved, uri: `${saved.uri}/../x` }, 422],
      [{ ...saved, uri: saved.uri.toUpperCase() }, 422],
      [{ ...saved, step: -1 }, 422],
      [{ ...saved, step: 2_147_483_648 }, 422],
      [{ ...saved, digest: 'x' }, 422],
      [{}, 422],
    ]
    for (const [body, status] of refused) {
      expect(await report(`${attempt}/progress`, body)).toEqual({ status, body: { detail: expect.any(String) } })
    }
    expect(await report(`${attempt}/release`, {})).toEqual({ status: 200, body: {} })
    expect((await report(`${attempt}/progress`, saved)).status).toBe(409)
    expect((await report(`/v1/jobs/${second}/attempts/2/release`, {})).status).toBe(409)
    const again = await report('/v1/claims', { ...asking, holding: [second] })
    const resume = { uri: saved.uri, digest, step: 3 }
    expect(again.body).toMatchObject({ id: first, attempt: 2, entity: 'team', reference: null, resume })
  } finally {
    await server.remove()
  }
})
