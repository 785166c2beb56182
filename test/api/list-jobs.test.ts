import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordCheckpoint } from '../../db/jobs/reports.ts'
import { useApiServer } from '../support/api-server.ts'
import { type Rest } from '../support/rest.ts'
import { addTrainingEntity, type Job, type Jobs, jobsPath } from '../support/training-entity.ts'
import { checkpointOf, TrainingRows } from '../support/training-rows.ts'

const own = useApiServer()
let rows: TrainingRows
let api: Rest
let stranger: Rest

beforeAll(async () => {
  stranger = await own.join('others')
})
// Every test has its own entity, so that it lists only its own jobs.
beforeEach(async () => {
  ;({ rows, api } = await addTrainingEntity(own))
})

const read = (id: string) => api.call<Job>('GET', `${jobsPath}/${id}`)
const list = async (query: string) => (await api.call<Jobs>('GET', `${jobsPath}?${query}`)).data.map(({ id }) => id)
const cancel = (id: string, body?: unknown) => api.send('POST', `${jobsPath}/${id}/cancel`, body)

test('a job says which engines have its checkpoint, and which cannot load it', async () => {
  const id = await rows.addJob(await rows.addModel())
  expect(await read(id)).toMatchObject({ loads: [] })
  const { claim, attempt } = await rows.claim()
  await recordCheckpoint(own.database.pool, attempt, checkpointOf(claim))
  const [first, second] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
  await own.database.pool.query(
    `INSERT INTO training.engine_adapters (pod_name, pod_uid, container_start, checkpoint_id, error, seen_at)
     VALUES ($1, $1, 'now', $3, NULL, '2026-11-21T10:00:00Z'), ($2, $2, 'now', $3, 'too large', '2026-11-21T10:00:01Z')`,
    [first, second, claim.checkpointId],
  )
  expect(await read(id)).toMatchObject({
    loads: [
      { pod: first, at: '2026-11-21T10:00:00.000Z', error: null },
      { pod: second, at: '2026-11-21T10:00:01.000Z', error: 'too large' },
    ],
  })
})

describe('the list', () => {
  test('has the order of arrival in both directions, also after a cursor whose model was deleted', async () => {
    const [gone, stays] = [await rows.addModel(), await rows.addModel()]
    const jobs: string[] = []
    for (let index = 0; index < 7; index++) jobs.push(await rows.addJob(index % 2 ? gone : stays))
    const walk = async (order: string) => {
      const ids: string[] = []
      for (let after = ''; ;) {
        const page = await api.call<Jobs>('GET', `${jobsPath}?limit=2&order=${order}${after}`)
        ids.push(...page.data.map(({ id }) => id))
        if (!page.has_more) return ids
        after = `&after=${page.last_id}`
        await own.database.pool.query('UPDATE training.models SET deleted_at = now() WHERE id = $1', [gone])
      }
    }
    expect(await walk('asc')).toEqual(jobs)
    expect(await walk('desc')).toEqual(jobs.toReversed())
  })

  test('can be filtered by each filter, and by several', async () => {
    const model = await rows.addModel()
    const [rl, sft, done] = [
      await rows.addJob(model),
      await rows.addJob(model),
      await rows.addJob(await rows.addModel('second')),
    ]
    await own.database.pool.query(
      `UPDATE training.jobs SET method = 'SFT', training_data_url = 'https://x/y.jsonl', experimental_config = '{"a": 1}'
       WHERE id = $1`,
      [sft],
    )
    await own.database.pool.query(
      `UPDATE training.jobs SET created_at = created_at - make_interval(mins => CASE id WHEN $1 THEN 2 ELSE 1 END)
       WHERE id IN ($1, $2)`,
      [rl, sft],
    )
    const sftJob = await read(sft)
    expect(sftJob).toMatchObject({ config: { learning_rate: 0.001 }, experimental_config: { a: 1 } })
    expect(sftJob).toMatchObject({ training_data_url: 'https://x/y.jsonl' })
    await cancel(done)
    const at = (id: string, shiftMs = 0) =>
      read(id).then(({ timeline }) =>
        encodeURIComponent(new Date(Date.parse(timeline['created_at']!) + shiftMs).toISOString()),
      )
    const cases: [string, string[]][] = [
      [`model_id=${model}`, [rl, sft]],
      [`model_id=${randomUUID()}`, []],
      ['project=second', [done]],
      ['method=SFT', [sft]],
      ['state=Queued', [rl, sft]],
      ['state=Queued&state=Cancelled', [rl, sft, done]],
      ['state=Running,Cancelled', [done]],
      ['state[]=Running&state[]=Cancelled', [done]],
      [`created_after=${await at(sft, -1)}&created_before=${await at(done, 1)}&order=desc`, [done, sft]],
      [`created_before=${await at(rl, -1)}`, []],
      ['state=Queued&method=RL&project=project', [rl]],
      [`method=RL&after=${rl}`, [done]],
    ]
    for (const [query, expected] of cases) expect({ query, ids: await list(query) }).toEqual({ query, ids: expected })
  })

  test('continues after a job whose state has changed', async () => {
    const model = await rows.addModel()
    const jobs = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    await cancel(jobs[1]!)
    expect(await list(`state=Queued&after=${jobs[1]}`)).toEqual([jobs[2]])
  })

  test.each([
    ['an empty id', `after=${randomUUID()}`, ['query', 'after']],
    ['an invalid id', 'after=x%00', ['query', 'after']],
    ['an unknown state', 'state=Queued&state=Done', ['query', 'state', '1']],
    ['an empty state', 'state=', ['query', 'state', '0']],
    ['an unknown method', 'method=DPO', ['query', 'method']],
    ['a model that is neither an id nor a name', 'model_id=a:b', ['query', 'model_id']],
    ['a project with a NUL', 'project=%00', ['query', 'project']],
    ['an invalid time', 'created_after=yesterday', ['query', 'created_after']],
    ['an invalid year', 'created_before=99999-01-01T00:00:00Z', ['query', 'created_before']],
    ['a limit too high', 'limit=101', ['query', 'limit']],
  ])('rejects %s', async (_name, query, loc) => {
    const answer = await api.send('GET', `${jobsPath}?${query}`)
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 422,
      body: { detail: [{ loc, msg: expect.any(String), type: expect.any(String) }] },
    })
  })

  test('rejects a cursor that was never in the requested list, and a cursor of another entity', async () => {
    const [first, second] = [await rows.addModel(), await rows.addModel()]
    const job = await rows.addJob(first)
    expect((await api.send('GET', `${jobsPath}?model_id=${second}&after=${job}`)).status).toBe(422)
    expect((await stranger.send('GET', `${jobsPath}?after=${job}`)).status).toBe(422)
  })
})
