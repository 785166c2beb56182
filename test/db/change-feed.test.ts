import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ModelResolver } from '../../apiserver/inference/models/model-resolver.ts'
import { ChangeFeed, type Follower } from '../../db/changes.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { listen } from '../../db/listen.ts'
import { withTransaction } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { type TestDatabase, useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { TrainingRows } from '../support/training-rows.ts'

const log = createLogger('test', 'silent')
const database = useTestDatabase()
let feed: ChangeFeed

beforeAll(async () => {
  feed = new ChangeFeed()
  expect(await feed.renew()).toBe(false)
  feed.start(database.databaseUrl, log)
  await eventually(async () => expect(await feed.renew()).toBe(true))
})
afterAll(() => feed?.close())

test('a probe is answered after the notifications of all changes that were acknowledged before', async () => {
  const heard = new Set<string>()
  const connected = Promise.withResolvers<void>()
  const handlers = { onNotify: (_: string, tag: string) => heard.add(tag), onConnect: () => connected.resolve() }
  const listener = listen(database.databaseUrl, ['changes'], handlers, log)
  await connected.promise
  const missed: string[] = []
  // Eight at a time, so that commits, probes and other notifications are interleaved.
  const lane = async (name: number) => {
    for (let index = 0; index < 300; index++) {
      const tag = `${name}/${index}`
      await database.pool.query('SELECT pg_notify($1, $2)', ['changes', tag])
      await listener.probe()
      if (!heard.has(tag)) missed.push(tag)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, name) => lane(name)))
  await listener.close()
  expect(missed).toEqual([])
  expect(heard.size).toBe(2_400)
})

describe('a notification', () => {
  /** Returns the notifications of changes that were made through the feed's database. */
  async function hear(change: () => Promise<unknown>): Promise<string[]> {
    const reported: string[] = []
    const follower: Follower = { drop: (tag) => reported.push(tag), clear: () => reported.push('everything') }
    feed.follow(follower)
    await change()
    const end = randomUUID()
    await database.pool.query('SELECT pg_notify($1, $2)', ['changes', end])
    await eventually(() => expect(reported).toContain(end), 60_000, 5)
    follower.drop = () => {}
    return reported.slice(0, reported.indexOf(end)).toSorted()
  }
  const run = (text: string, values: unknown[] = []) => hear(() => database.pool.query(text, values))
  const insertKey = `INSERT INTO auth.api_keys (entity, digest) VALUES ($1, sha256($2::bytea)) RETURNING id`

  test('is sent for keys', async () => {
    const { rows } = await database.pool.query<{ id: string }>(insertKey, ['reported', 'one'])
    const { id } = rows[0]!
    expect(await run('UPDATE auth.api_keys SET last_used_at = now() WHERE id = $1', [id])).toEqual([])
    expect(await run('UPDATE auth.api_keys SET revoked_at = now() WHERE id = $1', [id])).toEqual([`key:${id}`])
    expect(await run("UPDATE auth.api_keys SET expires_at = '2090-01-01' WHERE id = $1", [id])).toEqual([`key:${id}`])
    expect(await run('DELETE FROM auth.api_keys WHERE id = $1', [id])).toEqual(['entity:reported'])
  })

  test('is sent for limits', async () => {
    const save = `INSERT INTO auth.entities (entity, weight) VALUES ('reported', $1)
      ON CONFLICT (entity) DO UPDATE SET weight = excluded.weight, updated_at = now()`
    expect(await run(save, [2])).toEqual(['entity:reported'])
    expect(await run(save, [2])).toEqual([])
    expect(await run(save, [3])).toEqual(['entity:reported'])
    expect(await run("UPDATE auth.entities SET queued_jobs = 3 WHERE entity = 'reported'")).toEqual([])
    expect(await run("DELETE FROM auth.entities WHERE entity = 'reported'")).toEqual(['entity:reported'])
  })

  test('is sent for models, checkpoints and aliases', async () => {
    const rows = new TrainingRows(database.pool, 'reported')
    let model = ''
    const inserted = await hear(async () => (model = await rows.addModel('project')))
    expect(inserted).toEqual([expect.stringMatching(/^model:reported\/project\//)])
    const job = await rows.addJob(model)
    expect(await hear(() => rows.train(job))).toEqual(inserted)
    const checkpoint = (set: string) => run(`UPDATE training.checkpoints SET ${set} WHERE model_id = $1`, [model])
    expect(await checkpoint('bytes = 5')).toEqual([])
    const alias = `INSERT INTO training.aliases (model_id, alias, step) VALUES ($1, 'prod', $2)
      ON CONFLICT (model_id, alias) DO UPDATE SET step = excluded.step`
    expect(await run(alias, [model, 0])).toEqual(inserted)
    expect(await run(alias, [model, 1])).toEqual(inserted)
    expect(await run('DELETE FROM training.aliases WHERE model_id = $1', [model])).toEqual(inserted)
    expect(await checkpoint('deleted_at = now()')).toEqual(inserted)
    const change = (set: string) => run(`UPDATE training.models SET ${set} WHERE id = $1`, [model])
    expect(await change('last_step = 5, resource_created_at = now()')).toEqual([])
    expect(await change('hidden_at = now()')).toEqual(inserted)
    expect(await change('hidden_at = NULL, deleted_at = now()')).toEqual(inserted)
  })

  test('is sent for base models', async () => {
    const insert = `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('t', '{t}', 'n', 't')`
    expect(await run(insert)).toEqual(['base-models'])
    expect(await run("UPDATE training.base_models SET names = '{t, u}' WHERE name = 't'")).toEqual(['base-models'])
    expect(await run("DELETE FROM training.base_models WHERE name = 't'")).toEqual(['base-models'])
  })

  test('covers the whole entity if very many of its keys and models change', async () => {
    const keys = `INSERT INTO auth.api_keys (entity, digest)
      SELECT 'many', sha256(n::text::bytea) FROM generate_series(1, 300) n`
    await database.pool.query(keys)
    expect(await run("UPDATE auth.api_keys SET revoked_at = now() WHERE entity = 'many'")).toEqual(['entity:many'])
    expect(await run("DELETE FROM auth.api_keys WHERE entity = 'many'")).toEqual(['entity:many'])
    expect(await hear(() => addModels(database, 'many', 300))).toEqual(['entity:many'])
    const deletion = "UPDATE training.models SET deleted_at = now() WHERE entity = 'many'"
    expect(await run(deletion)).toEqual(['entity:many'])
  })

  test('covers everything if a name is too long', async () => {
    const entity = 'x'.repeat(10_000)
    expect(await run('INSERT INTO auth.entities (entity) VALUES ($1)', [entity])).toEqual(['everything'])
  })
})

async function addModels({ pool }: TestDatabase, entity: string, count: number): Promise<void> {
  await pool.query(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     SELECT $1, 'project', 'model-' || n, 'fake', 'trainyard', 'model-' || n FROM generate_series(1, $2) n`,
    [entity, count],
  )
}

describe('model names', () => {
  let resolver: ModelResolver
  /** Counts the connections that are requested. */
  const countQueries = async (work: () => Promise<unknown>) => {
    let queries = 0
    const count = () => queries++
    database.pool.on('acquire', count)
    await work()
    database.pool.off('acquire', count)
    return queries
  }
  const resolveAll = async (names: string[]) => {
    const left = [...names]
    const lane = async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) await resolver.resolve('owner', name)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
  }

  beforeAll(async () => {
    await database.pool.query(
      `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('fake', '{fake}', 'trainyard', 'fake')`,
    )
    await addModels(database, 'owner', 1_000)
    resolver = new ModelResolver({ pool: database.pool, lease: feed })
    feed.follow(resolver.known)
  })

  test('of a thousand models are looked up once', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `owner/project/model-${index + 1}`)
    await resolveAll(names)
    // On a loaded machine, the lease sometimes expires, and models are looked up then.
    await eventually(async () => {
      expect(await countQueries(() => resolveAll(names))).toBe(0)
      expect(names.every((name) => resolver.peek('owner', name) !== undefined)).toBe(true)
    }, 60_000)
  })

  test('of models that do not exist are looked up once, and again after they exist', async () => {
    const name = 'owner/project/later'
    const ask = () => resolver.resolve('owner', name)
    await expect(ask()).rejects.toMatchObject({ status: 404 })
    const askAgain = () => expect(ask()).rejects.toMatchObject({ status: 404 })
    await eventually(async () => expect(await countQueries(askAgain)).toBe(0))
    await database.pool.query(
      `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
       VALUES ('owner', 'project', 'later', 'fake', 'trainyard', 'later')`,
    )
    await eventually(async () => expect(await ask()).toMatchObject({ engineName: 'fake' }), 60_000, 5)
  })

  test('of other entities and of models that do not exist get the same answer, with similar names', async () => {
    const read = (name: string) =>
      resolver.resolve('owner', name).then(
        ({ engineName }) => engineName,
        (error: Error) => error.message,
      )
    const theirs = await read('many/project/model-1')
    expect(theirs).toMatch(
      /^The model many\/project\/model-1 does not exist\. Is owner\/project\/model-\d+, .* or .* meant\?$/,
    )
    expect(await read('nowhere/project/model-1')).toBe(theirs.replace('many/', 'nowhere/'))
    expect(await read('fakee')).toBe('The model fakee does not exist. Is fake meant?')
    expect(await read('gpt-4o-2024')).toBe('The model gpt-4o-2024 does not exist. GET /v1/models lists all models.')
  })

  test('mean the new step when a job is seen to have ended', async () => {
    const rows = new TrainingRows(database.pool, 'owner')
    await database.pool.query(
      `INSERT INTO training.base_models (name, names, namespace, cr_name)
      VALUES ($1, ARRAY[$1], 'trainyard', $1)`,
      [rows.baseModel],
    )
    for (let times = 0; times < 5; times++) {
      const id = await rows.addModel()
      const { rows: found } = await database.pool.query<{ name: string }>(
        'SELECT name FROM training.models WHERE id = $1',
        [id],
      )
      const name = `owner/project/${found[0]!.name}:latest`
      expect(await resolver.resolve('owner', name)).toMatchObject({ engineName: rows.baseModel })
      const job = await rows.addJob(id)
      const { claim } = await rows.train(job)
      await cancelJob(database.pool, job)
      expect(await rows.readJob(job)).toMatchObject({ state: 'Succeeded' })
      expect(resolver.peek('owner', name)?.engineName ?? claim.checkpointId).toBe(claim.checkpointId)
    }
  })

  test('that are looked up while they change are not kept', async () => {
    const name = 'owner/project/model-2'
    const change = (deletedAt: string) =>
      withTransaction(database.pool, (connection) =>
        connection.query(
          `UPDATE training.models SET deleted_at = ${deletedAt} WHERE name = 'model-2' AND entity = 'owner'`,
        ),
      )
    for (let times = 0; times < 20; times++) {
      const asking = Array.from({ length: 5 }, () => resolver.resolve('owner', name).catch(() => {}))
      await change(times % 2 === 0 ? 'now()' : 'NULL')
      await Promise.all(asking)
      await database.pool.query('SELECT pg_notify($1, $2)', ['changes', 'other'])
      const outcome = eventually(
        async () =>
          expect(
            await resolver.resolve('owner', name).then(
              () => 200,
              () => 404,
            ),
          ).toBe(times % 2 === 0 ? 404 : 200),
        60_000,
        5,
      )
      await outcome
    }
  })
})
