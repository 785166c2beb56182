import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { recordTokenStatistics, type ReportedStatistics } from '../../db/jobs/token-statistics.ts'
import { useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import type { Rest } from '../support/rest.ts'
import { TrainingRows } from '../support/training-rows.ts'

const digest = 'ab'.repeat(32)

describe('a report', () => {
  const api = useApiServer()
  let rows: TrainingRows
  let rest: Rest

  beforeEach(async () => {
    rows = new TrainingRows(api.database.pool, `team-${randomUUID()}`)
    rest = await api.join(rows.entity, 'read')
  })

  /** A trained job in the state Publishing. */
  async function train(groups: number[]) {
    const model = await rows.addModel()
    const job = await rows.addJob(model)
    await rows.addTrajectories(model, job, groups)
    const { claim, attempt } = await rows.train(job)
    return { model, job, attempt, checkpoint: claim.checkpointId }
  }

  const record = (attempt: Attempt, reported: ReportedStatistics) =>
    recordTokenStatistics(api.database.pool, attempt, reported)
  const listPushes = async (model: string, query = '') => {
    const path = `/v1/preview/models/${model}/trajectories?limit=100${query}`
    const { data } = await rest.call<{ data: { push: number | null }[] }>('GET', path)
    return data.map(({ push }) => push)
  }

  test('adds the push of each trajectory to the list, and zero for unused trajectories', async () => {
    const { model, attempt } = await train([2, 1])
    expect(await listPushes(model)).toEqual([null, null, null])
    expect(await record(attempt, { file: null, pushes: { '0/1': -0.5, '1/0': 2e-7, '9/9': 1 } })).toBe('recorded')
    expect(await listPushes(model)).toEqual([0, -0.5, 2e-7])
    expect(await listPushes(model, '&min_push=1e-9')).toEqual([2e-7])
    expect(await listPushes(model, '&max_push=-0.1')).toEqual([-0.5])
  })

  test('counts once, before the end of its job or after it', async () => {
    const readStored = async () =>
      (await rest.call<{ in_use: { stored_bytes: number } }>('GET', '/v1/preview/limits')).in_use.stored_bytes
    for (const ended of [false, true]) {
      const { model, job, attempt, checkpoint } = await train([1])
      const before = await readStored()
      if (ended) await finishJob(api.database.pool, job)
      const first = { file: { checkpointId: checkpoint, digest, bytes: 70 }, pushes: { '0/0': 1.5 } }
      expect(await record(attempt, first)).toBe('recorded')
      expect(await record(attempt, first)).toBe('recorded')
      const other = { file: { checkpointId: checkpoint, digest: 'cd'.repeat(32), bytes: 7 }, pushes: { '0/0': 9 } }
      expect(await record(attempt, other)).toBe('recorded')
      expect(await listPushes(model)).toEqual([1.5])
      expect((await readStored()) - before).toBe(70)
    }
  })

  test.each<[string, (attempt: Attempt) => Attempt]>([
    ['another attempt', (attempt) => ({ ...attempt, attempt: 2 })],
    ['another pod', (attempt) => ({ ...attempt, podUid: randomUUID() })],
    ['another job', (attempt) => ({ ...attempt, jobId: randomUUID() })],
  ])('of %s changes nothing', async (_name, change) => {
    const { model, attempt } = await train([1])
    expect(await record(change(attempt), { file: null, pushes: { '0/0': 1 } })).toBe('fenced')
    expect(await listPushes(model)).toEqual([null])
  })

  test('of an untrained job, of another checkpoint and of a deleted one changes nothing', async () => {
    const model = await rows.addModel()
    const job = await rows.addJob(model)
    await rows.addTrajectories(model, job, [1])
    const { attempt } = await rows.claim()
    expect(await record(attempt, { file: null, pushes: { '0/0': 1 } })).toBe('fenced')
    expect(await listPushes(model)).toEqual([null])

    const trained = await train([1])
    const file = { checkpointId: randomUUID(), digest, bytes: 1 }
    expect(await record(trained.attempt, { file, pushes: { '0/0': 1 } })).toBe('fenced')
    await api.database.pool.query('UPDATE training.checkpoints SET deleted_at = now() WHERE id = $1', [
      trained.checkpoint,
    ])
    expect(await record(trained.attempt, { file: null, pushes: { '0/0': 1 } })).toBe('fenced')
    expect(await listPushes(trained.model)).toEqual([null])
  })

  test('of more trajectories than one statement updates reaches all of them', async () => {
    const { model, attempt } = await train(Array.from({ length: 250 }, () => 100))
    const pushes = Object.fromEntries(Array.from({ length: 250 }, (_, group) => [`${group}/7`, group + 1]))
    expect(await record(attempt, { file: null, pushes })).toBe('recorded')
    const { rows: sums } = await api.database.pool.query(
      'SELECT count(push) AS reported, sum(push) AS sum FROM training.trajectories WHERE model_id = $1',
      [model],
    )
    expect(sums).toEqual([{ reported: 25_000, sum: (250 * 251) / 2 }])
  })

  test.each([
    [undefined, 'sampled'],
    ['off', 'off'],
    ['all', 'all'],
    [null, 'sampled'],
  ])('of an entity with the setting %s is requested as %s', async (setting, asked) => {
    if (setting !== undefined) {
      await api.database.pool.query('INSERT INTO auth.entities (entity, token_statistics) VALUES ($1, $2)', [
        rows.entity,
        setting,
      ])
    }
    await rows.addJob(await rows.addModel())
    expect((await rows.claim()).claim.tokenStatistics).toBe(asked)
    expect(await rest.call('GET', '/v1/preview/limits')).toMatchObject({ token_statistics: asked })
  })
})

describe('the setting', () => {
  const api = useApiServer()
  const path = '/v1/preview/limits/token-statistics'

  test('is set by an admin of the entity, and changes neither its limits nor other entities', async () => {
    const [admin, other] = [await api.join('ours', 'admin'), await api.join('theirs', 'read')]
    await api.database.pool.query("INSERT INTO auth.entities (entity, queued_jobs) VALUES ('ours', 7)")
    for (const [setting, holds] of [
      ['all', 'all'],
      ['off', 'off'],
      [null, 'sampled'],
    ]) {
      const limits = await admin.call('PUT', path, { token_statistics: setting })
      expect(limits).toMatchObject({ entity: 'ours', queued_jobs: 7, token_statistics: holds })
      expect(await admin.call('GET', '/v1/preview/limits')).toEqual(limits)
      expect(await other.call('GET', '/v1/preview/limits')).toMatchObject({ token_statistics: 'sampled' })
    }
  })

  test('cannot be set by others, nor to another value', async () => {
    const [admin, member] = [await api.join('ours', 'admin'), await api.join('ours', 'member')]
    expect((await member.send('PUT', path, { token_statistics: 'all' })).status).toBe(403)
    for (const body of [{}, { token_statistics: 'some' }, { token_statistics: 1 }]) {
      expect((await admin.send('PUT', path, body)).status).toBe(422)
    }
  })
})
