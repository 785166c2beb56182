import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { maxDocumentValues } from '../../apiserver/wandb/json-text.ts'
import { createPool } from '../../db/pool.ts'
import { countRuns, listRuns } from '../../db/runs/list.ts'
import { createLogger } from '../../lib/log.ts'
import { useTestDatabase } from '../support/database.ts'
import { readMemory } from '../hostile/process-memory.ts'

const mib = 1024 * 1024
const [entity, project] = ['team', 'filters']

const database = useTestDatabase()
beforeAll(async () => {
  const large = { a: 'x'.repeat(300_000) }
  await add('none', {})
  await add('one', { lr: { value: 1 }, 'a.b': { value: 'dotted' } }, { loss: 3, 'eval/x': 1 })
  await add('two', { lr: { value: 2 }, a: { value: { b: 'nested' } } }, { loss: null })
  await add('text', { lr: { value: 'x' }, list: { value: [1, 2] } }, { loss: 1 })
  await add('large', { lr: { value: large } }, { loss: 2 })
})

function add(name: string, config: object, summary: object = {}, ofProject = project) {
  return database.pool.query(
    `INSERT INTO training.runs (key_id, entity, project, name, config, summary)
     VALUES (gen_random_uuid(), $1, $2, $3, $4, $5)`,
    [entity, ofProject, name, JSON.stringify(config), JSON.stringify(summary)],
  )
}

async function list(filter: unknown, order = '+createdAt', after?: number) {
  const rows = await listRuns(database.pool, { entity, project, filter }, { order, after, limit: 10 })
  return rows.map(({ name }) => name)
}

test.each<[unknown, string[]]>([
  [{ 'config.lr': 1 }, ['one']],
  [{ 'config.lr': { $in: [1, 'x', 7] } }, ['one', 'text']],
  [{ 'config.lr': { $nin: [1, 'x', 7] } }, ['none', 'two', 'large']],
  [{ 'config.lr': { $in: [null, 2] } }, ['none', 'two']],
  [{ 'config.lr': null }, ['none']],
  [{ 'config.lr': { $exists: true } }, ['one', 'two', 'text', 'large']],
  [{ 'config.lr': { $gt: 1 } }, ['two']],
  [{ 'config.list': [1, 2] }, ['text']],
  [{ 'config.a.b': { $regex: 'e' } }, ['one', 'two']],
  [{ 'config.lr': { $regex: 'xx' } }, []],
  [{ 'summary_metrics.loss': { $lte: 2 } }, ['text', 'large']],
  [{ 'summary_metrics.eval/x': 1, 'config.lr': 1, name: { $in: ['one', 'two'] } }, ['one']],
  [{ $and: [{ name: { $ne: 'one' } }, { $or: [{ 'config.lr': 2 }, { 'summary_metrics.loss': 3 }] }] }, ['two']],
  [{ $nor: [{ 'config.lr': { $exists: true } }] }, ['none']],
  [{ name: 'two', $not: { 'config.lr': 1 } }, ['two']],
])('%j lists the runs that match', async (filter, names) => {
  expect(await list(filter)).toEqual(names)
  expect(await countRuns(database.pool, { entity, project, filter })).toBe(names.length)
})

test('runs are in the order of a member, page by page', async () => {
  const all = ['none', 'two', 'text', 'large', 'one']
  expect(await list({}, '+summary_metrics.loss')).toEqual(all)
  expect(await list({ name: { $ne: 'large' } }, '-summary_metrics.loss')).toEqual(['one', 'text', 'two', 'none'])
  const { rows } = await database.pool.query<{ number: number }>(
    "SELECT number FROM training.runs WHERE name = 'text' AND entity = $1",
    [entity],
  )
  expect(await list({}, '+summary_metrics.loss', rows[0]!.number)).toEqual(['large', 'one'])
  expect(await list({ 'config.lr': { $exists: true } }, '-config.lr', rows[0]!.number)).toEqual(['large'])
})

test('a filter over a large config takes little memory of Postgres', async () => {
  const values = Array.from({ length: maxDocumentValues - 10 }, () => 1)
  await add('largest', { b: { value: [...values, 'x'.repeat(8 * mib)] } }, {}, 'large')
  const pool = createPool(database.databaseUrl, createLogger('test', 'silent'), 1)
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const filter = { 'config.b': { $in: Array.from({ length: 1_000 }, (_, at) => at) } }
  let bytes = 0
  let isDone = false
  const counting = countRuns(pool, { entity, project: 'large', filter }).finally(() => (isDone = true))
  while (!isDone) {
    bytes = Math.max(bytes, await readMemory(rows[0]!.pid, 'RssAnon'))
    await delay(1)
  }
  expect(await counting).toBe(0)
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(256 * mib)
  await pool.end()
})

test('a filter that takes too long says so', async () => {
  const lock = await database.pool.connect()
  try {
    await lock.query('BEGIN; LOCK TABLE training.runs IN ACCESS EXCLUSIVE MODE')
    const startMs = performance.now()
    await expect(list({ name: 'a' })).rejects.toThrow('takes more than 2 seconds')
    expect(performance.now() - startMs).toBeLessThan(4_000)
  } finally {
    await lock.query('ROLLBACK')
    lock.release()
  }
})
