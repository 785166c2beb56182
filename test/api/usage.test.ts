import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { UsageLedger } from '../../apiserver/accounts/usage/ledger.ts'
import { createPool } from '../../db/pool.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { recordCheckpoint, recordEvents, recordFailure } from '../../db/jobs/reports.ts'
import { addChatUsage } from '../../db/accounts/chat-usage.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { finishJob } from '../support/leases.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { openSeverableProxy } from '../support/severable-proxy.ts'
import { useServices } from '../support/services.ts'
import { checkpointOf, started, TrainingRows } from '../support/training-rows.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const path = '/v1/preview/usage'

interface Usage extends Record<string, unknown> {
  id: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  trained_tokens: number
  training_seconds: number
  gpu_seconds: number
}
interface Page {
  data: Usage[]
  has_more: boolean
  last_id: string
}

const database = useTestDatabase()
let server: ServedApi
let rows: TrainingRows
let entity: string
let api: Rest

beforeAll(async () => {
  server = await serveApi(stack, database.databaseUrl)
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  rows = new TrainingRows(database.pool, entity)
  api = createRest({ ...stack, url: server.url }, await addKey(database.pool, entity))
})
afterAll(() => server?.remove())

const read = async (query = '') => (await api.call<Page>('GET', `${path}?${query}`)).data
const total = async () => (await read())[0]!
const none = {
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  trained_tokens: 0,
  training_seconds: 0,
  gpu_seconds: 0,
}

describe('training', () => {
  const stepOf = (seq: number, tokens: unknown) => ({
    seq,
    type: 'gradient_step',
    data: { loss: 1, ...(tokens !== undefined && { num_trainable_tokens: tokens }) },
  })
  const lost = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'out of memory', retryable: true } as const
  const fatal = { ...lost, category: 'User', retryable: false } as const

  /** Claims the job on this many GPUs, and moves the claim into the past. */
  const claimAgo = async (jobId: string, seconds: number, gpus = 0) => {
    const { claim, attempt } = await rows.claim()
    expect(claim.id).toBe(jobId)
    await database.pool.query(
      'UPDATE training.jobs SET claimed_at = clock_timestamp() - make_interval(secs => $2), gpus = $3 WHERE id = $1',
      [jobId, seconds, gpus],
    )
    return { claim, attempt }
  }
  // Within 15 seconds, because machines may be busy.
  const near = (seconds: number) => expect.closeTo(seconds, -1.5) as number

  test('is charged when its checkpoint is recorded, once, to its model and key', async () => {
    const model = await rows.addModel('demo')
    const job = await rows.addJob(model)
    const keyId = randomUUID()
    await database.pool.query('UPDATE training.jobs SET key_id = $2 WHERE id = $1', [job, keyId])
    const { claim, attempt } = await claimAgo(job, 100, 4)
    await recordEvents(database.pool, attempt, [started, stepOf(1, 120), stepOf(2, 30), stepOf(3, undefined)])
    expect(await total()).toMatchObject(none)
    for (let times = 0; times < 2; times++) await recordCheckpoint(database.pool, attempt, checkpointOf(claim))
    const charged = {
      ...none,
      trained_tokens: 150,
      training_seconds: near(100),
      gpu_seconds: expect.closeTo(400, -2) as number,
    }
    expect(await total()).toMatchObject(charged)
    await cancelJob(database.pool, job)
    await finishJob(database.pool, job)
    expect(await total()).toMatchObject(charged)
    expect(await read('group_by=project,model,key')).toMatchObject([
      {
        ...charged,
        project: 'demo',
        model_id: model,
        model: expect.stringContaining(`${entity}/demo/`),
        key_id: keyId,
      },
    ])
  })

  test('of a lost attempt is charged until its lease expired, and its steps once', async () => {
    const job = await rows.addJob(await rows.addModel())
    const first = await claimAgo(job, 60)
    await recordEvents(database.pool, first.attempt, [started, stepOf(1, 10)])
    await database.pool.query(
      "UPDATE training.jobs SET lease_expires_at = clock_timestamp() - interval '20 s' WHERE id = $1",
      [job],
    )
    await rows.releaseExpiredLeases()
    expect(await total()).toMatchObject({ ...none, training_seconds: near(40) })
    const second = await claimAgo(job, 30)
    await recordEvents(database.pool, second.attempt, [started, stepOf(1, 10), stepOf(2, 5)])
    await recordFailure(database.pool, second.attempt, lost)
    expect(await total()).toMatchObject({ ...none, training_seconds: near(70) })
    const third = await claimAgo(job, 10)
    await recordCheckpoint(database.pool, third.attempt, checkpointOf(third.claim))
    expect(await total()).toMatchObject({ ...none, trained_tokens: 15, training_seconds: near(80) })
  })

  test.each([
    ['fails for good', (job: string) => failJob(database.pool, job, fatal)],
    ['is cancelled', (job: string) => cancelJob(database.pool, job)],
  ])('of a job that %s is charged', async (_, end) => {
    const job = await rows.addJob(await rows.addModel())
    const { attempt } = await claimAgo(job, 50)
    await recordEvents(database.pool, attempt, [started, stepOf(1, 7)])
    await end(job)
    await end(job)
    expect(await total()).toMatchObject({ ...none, trained_tokens: 7, training_seconds: near(50) })
  })

  test('that never began is not charged', async () => {
    const job = await rows.addJob(await rows.addModel())
    await cancelJob(database.pool, job)
    const { rows: charged } = await database.pool.query('SELECT FROM training.usage WHERE entity = $1', [entity])
    expect(charged).toEqual([])
  })

  test.each([-5, 1e300])('with an invalid count of %d tokens still ends', async (tokens) => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await claimAgo(job, 1)
    await recordEvents(database.pool, attempt, [started, stepOf(1, tokens)])
    expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
    expect((await total()).trained_tokens).toBeGreaterThanOrEqual(0)
  })
})

describe('chats', () => {
  const account = () => ({ entity, project: 'demo', modelId: null, baseModel: 'base', keyId: randomUUID() })
  const tokens = { promptTokens: 10, completionTokens: 3 }

  test('are written together, and added to existing rows', async () => {
    const ledger = new UsageLedger(database.pool)
    const one = account()
    for (let times = 0; times < 3; times++) ledger.add(one, tokens)
    ledger.add({ ...one, project: null }, tokens)
    await ledger.flush()
    await ledger.flush()
    const another = new UsageLedger(database.pool)
    another.add(one, tokens)
    await another.flush()
    expect(await read('group_by=project')).toMatchObject([
      { project: null, requests: 1, prompt_tokens: 10, completion_tokens: 3 },
      { project: 'demo', requests: 4, prompt_tokens: 40, completion_tokens: 12 },
    ])
  })

  test('of a batch that is repeated after a lost answer count once', async () => {
    const row = { ...account(), hour: '2026-01-01T00:00:00Z', requests: 1, promptTokens: 2, completionTokens: 3 }
    const batch = { process: randomUUID(), number: 1, rows: [row] }
    for (let times = 0; times < 2; times++) await addChatUsage(database.pool, batch)
    await addChatUsage(database.pool, { ...batch, number: 2 })
    expect(await read('from=2026-01-01&to=2026-01-02')).toMatchObject([{ requests: 2, prompt_tokens: 4 }])
  })

  test('that end while the database is unavailable are written when it is available again', async () => {
    const { hostname, port } = new URL(database.databaseUrl)
    const proxy = await openSeverableProxy({ host: hostname, port: Number(port) })
    const url = new URL(database.databaseUrl)
    url.host = `127.0.0.1:${proxy.port}`
    const pool = createPool(url.href, createLogger('test', 'silent'), 1)
    try {
      const ledger = new UsageLedger(pool)
      const one = account()
      ledger.add(one, tokens)
      proxy.cut()
      await expect(ledger.flush()).rejects.toThrow()
      ledger.add(one, tokens)
      proxy.mend()
      await eventually(() => ledger.flush())
      expect(await total()).toMatchObject({ requests: 2, prompt_tokens: 20 })
    } finally {
      await pool.end()
      await proxy.close()
    }
  })
})

describe('the report', () => {
  const add = (hour: string, project: string | null, modelId: string | null, keyId: string, requests: number) =>
    addChatUsage(database.pool, {
      process: randomUUID(),
      number: 1,
      rows: [
        { entity, hour, project, modelId, baseModel: 'base', keyId, requests, promptTokens: 0, completionTokens: 0 },
      ],
    })
  const [first, second] = [randomUUID(), randomUUID()].sort((a, b) => (a < b ? -1 : 1)) as [string, string]
  const march = 'from=2026-03-01T00:00:00Z&to=2026-03-03T00:00:00Z'
  let model: string

  beforeEach(async () => {
    model = await rows.addModel('demo')
    await add('2026-03-01T10:00:00Z', 'demo', model, first, 1)
    await add('2026-03-01T11:00:00Z', 'demo', null, first, 2)
    await add('2026-03-02T10:00:00Z', 'other', null, second, 4)
    await add('2026-03-02T23:00:00Z', null, null, second, 8)
    await add('2026-03-03T00:00:00Z', null, null, second, 16)
  })

  const requestsBy = async (query: string, ...names: string[]) =>
    (await read(query)).map((usage) => [...names.map((name) => usage[name]), usage.requests])

  test('sums by any requested dimension, within the hours', async () => {
    expect(await read(march)).toEqual([{ ...none, id: expect.any(String), requests: 15 }])
    expect(await requestsBy(`${march}&group_by=project`, 'project')).toEqual([
      [null, 8],
      ['demo', 3],
      ['other', 4],
    ])
    expect(await requestsBy(`${march}&group_by=key,day`, 'key_id', 'day')).toEqual([
      [first, '2026-03-01', 3],
      [second, '2026-03-02', 12],
    ])
    expect(await requestsBy(`${march}&group_by=hour`, 'hour')).toEqual([
      ['2026-03-01T10:00:00Z', 1],
      ['2026-03-01T11:00:00Z', 2],
      ['2026-03-02T10:00:00Z', 4],
      ['2026-03-02T23:00:00Z', 8],
    ])
    const byModel = await requestsBy(`${march}&group_by=model`, 'model', 'model_id')
    expect(new Map(byModel.map(([name, id, requests]) => [id, [name, requests]]))).toEqual(
      new Map([
        [null, ['base', 14]],
        [model, [expect.stringContaining(`${entity}/demo/`), 1]],
      ]),
    )
    expect(await requestsBy('from=2026-03-01T10:59:00Z&to=2026-03-01T11:00:00Z')).toEqual([[1]])
  })

  test('filters', async () => {
    expect(await requestsBy(`${march}&project=demo`)).toEqual([[3]])
    expect(await requestsBy(`${march}&model_id=${model}`)).toEqual([[1]])
    expect(await requestsBy(`${march}&key_id=${second}`)).toEqual([[12]])
    expect(await requestsBy(`${march}&project=nothing&group_by=day`)).toEqual([])
    expect(await requestsBy('from=2026-03-03&to=2026-03-01')).toEqual([[0]])
  })

  test('is read page by page', async () => {
    const query = `${march}&group_by=project,hour&limit=1`
    const seen: Usage[] = []
    for (let page: Page | undefined; !page || page.has_more;) {
      page = await api.call<Page>('GET', `${path}?${query}${page ? `&after=${page.last_id}` : ''}`)
      seen.push(...page.data)
    }
    expect(seen).toEqual(await read(`${march}&group_by=project,hour`))
    expect(seen).toHaveLength(4)
    const totals = await api.call<Page>('GET', `${path}?${march}`)
    expect(await read(`${march}&after=${totals.last_id}`)).toEqual([])
  })

  test("has only data of the key's entity", async () => {
    const other = createRest({ ...stack, url: server.url }, await addKey(database.pool, `other-${entity}`))
    const query = `${path}?${march}&model_id=${model}`
    expect(await other.call('GET', query)).toMatchObject({ data: [none] })
  })

  test.each([
    ['group_by=entity', 'group_by'],
    ['group_by=', 'group_by'],
    ['group_by=day,', 'group_by'],
    ['from=yesterday', 'from'],
    ['to=2026-02-30', 'to'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['model_id=a%20b', 'model_id'],
    ['key_id=1', 'key_id'],
    ['project=a%00b', 'project'],
    ['group_by=day&after=nonsense', 'after'],
    ['group_by=day&after=WyJhIiwiYiJd', 'after'],
  ])('rejects %s', async (query, name) => {
    const response = await api.send('GET', `${path}?${query}`)
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', name] }] },
    })
  })
})

describe('the project of a chat', () => {
  const warningOf = async (headers: Record<string, string>) => {
    const key = await addKey(database.pool, entity, 'read')
    const body = { model: 'none', messages: [{ role: 'user', content: 'hi' }] }
    const response = await post(`${server.url}/v1/chat/completions`, key, body, { headers })
    expect(response.status).toBe(404)
    return response.headers.get('trainyard-warning')
  }

  test('is charged to the project in the header', async () => {
    expect(await warningOf({})).toBeNull()
    expect(await warningOf({ 'vendor-project': `${entity}/demo` })).toBeNull()
    expect(await warningOf({ 'openai-project': `${entity}/demo` })).toBeNull()
  })

  test.each(['demo', 'a/b/c', 'TEAM/', '/demo', 'TEAM/usage', 'TEAM/a b', `TEAM/${'x'.repeat(129)}`])(
    'gets a warning if the header is %s',
    async (value) => {
      expect(await warningOf({ 'vendor-project': value.replace('TEAM', entity) })).toBe(
        'Vendor-Project does not have the form ENTITY/PROJECT. It was ignored.',
      )
    },
  )

  test('is never that of another entity', async () => {
    expect(await warningOf({ 'openai-project': 'another-team/demo' })).toBe(
      'OpenAI-Project does not name the entity of this key. It was ignored.',
    )
  })
})
