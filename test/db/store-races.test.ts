import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { limitSettings } from '../../apiserver/accounts/limits/settings.ts'
import { StorageMeter } from '../../apiserver/accounts/limits/storage-meter.ts'
import { StorageUse } from '../../apiserver/accounts/limits/storage.ts'
import { CallWriter } from '../../apiserver/tracing/calls/writer.ts'
import { JsonText } from '../../lib/json/json-text.ts'
import { keepBlob } from '../../apiserver/training/artifacts/store-files.ts'
import { storeBody } from '../../apiserver/training/ingest/store-body.ts'
import { createTracePool, type Pool } from '../../db/pool.ts'
import type { RunningErasure } from '../../db/erasure/erase.ts'
import { listExpiredPayloads } from '../../db/retention/payloads.ts'
import { expireHolds, HeldKeys, whileHoldingKey, whileUnheld } from '../../db/store/held-keys.ts'
import { openTraceProject } from '../../db/tracing/projects.ts'
import { whileHoldingInput } from '../../artifacts/inputs/hold.ts'
import { keyOf } from '../../artifacts/layout.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { readConfig } from '../../lib/config.ts'
import { createLogger } from '../../lib/log.ts'
import { eraseBlobs } from '../../operator/erasure/blobs.ts'
import { sweepGarbage } from '../../operator/gc/sweep.ts'
import { removePayload, removePayloads } from '../../operator/deletion/files.ts'
import { applyTraceRetention } from '../../operator/retention/traces.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ModelRows } from '../support/model-rows.ts'
import { nodeEnv } from '../support/node-env.ts'

const log = createLogger('test', 'silent')
const database = useTestDatabase()
let pool: Pool
let tracing: Pool
let root: string
let artifacts: ArtifactStore

beforeAll(async () => {
  pool = database.pool
  tracing = createTracePool(database.databaseUrl, log, 4)
})
afterAll(() => tracing.end())
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'races-'))
  artifacts = new FolderStore(root)
  await pool.query('TRUNCATE training.models, training.blobs, training.garbage, training.held_keys CASCADE')
  await pool.query('UPDATE training.installation SET trouble = NULL')
  return () => rm(root, { recursive: true })
})

type Step = 'put' | 'adopt' | 'remove'

/** A store that calls `happen` once, directly before or after a step. */
function interrupted(step: Step, when: 'before' | 'after', happen: () => Promise<unknown>): ArtifactStore {
  let isOver = false
  const run = async (...args: unknown[]) => {
    const original = Reflect.get(artifacts, step) as (...given: unknown[]) => Promise<unknown>
    const isNow = !isOver
    isOver = true
    if (isNow && when === 'before') await happen()
    const result = await original.apply(artifacts, args)
    if (isNow && when === 'after') await happen()
    return result
  }
  const bound = (value: unknown): unknown => (typeof value === 'function' ? value.bind(artifacts) : value)
  return new Proxy(artifacts, { get: (store, name) => (name === step ? run : bound(Reflect.get(store, name))) })
}

/** Waits until a writer waits for the key that is being removed. */
const waitForWriter = () =>
  eventually(async () => {
    const { rowCount } = await pool.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
    expect(rowCount).toBe(1)
  })

/** Starts a write during a removal. The removal continues as soon as the writer waits. */
function removeWhile(write: () => Promise<unknown>) {
  let written: Promise<unknown> | undefined
  const store = interrupted('remove', 'before', async () => {
    written = write()
    await waitForWriter()
  })
  return { store, finish: () => written }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const limitDefaults = readConfig(Type.Object(limitSettings), {})
const apiDeps = (store: ArtifactStore) => ({
  pool,
  artifacts: store,
  storage: new StorageUse({ pool, tracing: pool }),
  log,
  limitDefaults,
})
const isThere = async (key: string) => (await artifacts.stat(key)) !== undefined

async function addModel(): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     VALUES ('team', 'p', $1, 'base', 'ns', $1) RETURNING id`,
    [randomUUID()],
  )
  return rows[0]!.id
}

/** Spools a body, and makes it look as if it had waited ten days for its check. */
async function spool(text: string) {
  const file = await artifacts.spoolPath()
  await writeFile(file, text)
  await utimes(file, new Date(0), new Date(0))
  return { file, digest: createHash('sha256').update(text).digest(), size: text.length }
}

describe('a payload of a job', () => {
  const key = keyOf('payload', { entity: 'team', digest: sha256('body') })
  const uri = `artifact:///${key}`
  const store = (commit: () => Promise<unknown>, into = artifacts) =>
    spool('body').then((body) => storeBody(apiDeps(into), { entity: 'team', body }, commit))

  async function addDeletedModel(): Promise<string> {
    const model = await addModel()
    await new ModelRows(pool, root).addJob(model, 'Succeeded', uri)
    await pool.query('UPDATE training.models SET deleted_at = now() WHERE id = $1', [model])
    return model
  }
  const addJob = async () => new ModelRows(pool, root).addJob(await addModel(), 'Queued', uri)
  const failToStore = () => store(() => Promise.reject(new Error('no place')))

  test('is not removed between the writes of its bytes and its row, even if the bytes look old', async () => {
    const gone = await addDeletedModel()
    await store(async () => {
      expect(await removePayloads({ pool, artifacts }, gone)).toEqual({ left: 1 })
      await addJob()
    })
    expect(await removePayloads({ pool, artifacts }, gone)).toEqual({ left: 0 })
    expect(await isThere(key)).toBe(true)
  })

  test('that is uploaded again during its removal is stored again', async () => {
    const gone = await addDeletedModel()
    await store(() => Promise.resolve())
    const race = removeWhile(() => store(addJob))
    expect(await removePayloads({ pool, artifacts: race.store }, gone)).toEqual({ left: 0 })
    await race.finish()
    expect(await isThere(key)).toBe(true)
    const { rows } = await pool.query(`SELECT input_removed_at FROM training.jobs WHERE state = 'Queued'`)
    expect(rows).toEqual([{ input_removed_at: null }])
  })

  test('that a new job began to use after it was found unused stays', async () => {
    await store(addDeletedModel)
    await addJob()
    await removePayload({ pool, artifacts }, uri, (connection) => listExpiredPayloads(connection, uri))
    expect(await isThere(key)).toBe(true)
  })

  test('is not garbage between the writes of its bytes and its row', async () => {
    await addModel()
    const sweep = () => sweepGarbage({ pool, tracing: pool, artifacts, log })
    await store(() => Promise.resolve())
    await sweep()
    await pool.query(`UPDATE training.garbage SET quarantined_at = quarantined_at - interval '8 days'`)
    await store(async () => {
      expect(await sweep()).toMatchObject({ found: 1, removed: 0 })
      await addJob()
    })
    expect(await sweep()).toMatchObject({ found: 0 })
    expect(await isThere(key)).toBe(true)
  })

  test('that another new job needs stays, or else that job is rejected', async () => {
    const gone = await addDeletedModel()
    await store(() => Promise.resolve())
    await whileHoldingInput({ pool, artifacts }, uri, async () => {
      expect(await removePayloads({ pool, artifacts }, gone)).toEqual({ left: 1 })
    })
    await removePayloads({ pool, artifacts }, gone)
    await expect(whileHoldingInput({ pool, artifacts }, uri, addJob)).rejects.toThrow('just deleted')
  })

  test('whose request is rejected is no longer protected', async () => {
    const gone = await addDeletedModel()
    await expect(failToStore()).rejects.toThrow('no place')
    expect(await removePayloads({ pool, artifacts }, gone)).toEqual({ left: 0 })
    expect(await isThere(key)).toBe(false)
  })

  test('whose request is rejected is removed', async () => {
    await expect(failToStore()).rejects.toThrow('no place')
    expect(await isThere(key)).toBe(false)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['another job has it', addJob],
    [
      'another request is storing it',
      () => pool.query('INSERT INTO training.held_keys VALUES ($1, $2)', [key, randomUUID()]),
    ],
    [
      'the store may belong to another installation',
      () => pool.query(`UPDATE training.installation SET trouble = 'not ours'`),
    ],
  ])('whose request is rejected stays when %s', async (_, prepare) => {
    await prepare()
    await expect(failToStore()).rejects.toThrow('no place')
    expect(await isThere(key)).toBe(true)
  })

  test('stays if it is unknown whether its job was created', async () => {
    const lost = () => Promise.reject(new Error('Connection terminated unexpectedly'))
    await expect(store(lost)).rejects.toThrow('Connection terminated')
    expect(await isThere(key)).toBe(true)
  })
})

describe('the hold of a key', () => {
  const key = keyOf('payload', { entity: 'team', digest: sha256('held') })
  const holds = { schema: 'training' as const }
  const isFree = () => whileUnheld({ ...holds, pool }, key, async () => true)
  const expireIn = (seconds: number) =>
    pool.query(`UPDATE training.held_keys SET expires_at = clock_timestamp() + $1 * interval '1 second'`, [seconds])
  const readSecondsLeft = async () => {
    const { rows } = await pool.query<{ left: number }>(
      'SELECT extract(epoch FROM expires_at - clock_timestamp())::float AS left FROM training.held_keys',
    )
    return rows.map(({ left }) => left)
  }

  test('is renewed while its process lives', async () => {
    await whileHoldingKey({ ...holds, pool }, key, {
      store: async () => {
        await expireIn(25)
        await eventually(async () => expect((await readSecondsLeft())[0]).toBeGreaterThan(30))
        expect(await isFree()).toBe(false)
      },
      commit: async () => {},
    })
    expect(await isFree()).toBe(true)
  })

  test('that has ended lets its process commit nothing', async () => {
    const write = whileHoldingKey({ ...holds, pool }, key, {
      store: async () => {
        await expireIn(-1)
        expect(await isFree()).toBe(true)
        // Longer than the pause between two renewals.
        await delay(12_000)
      },
      commit: () => Promise.reject(new Error('committed')),
    })
    await expect(write).rejects.toThrow('could not be renewed')
  })

  test('is one of several of a write, which are renewed and released by one statement each', async () => {
    const statements: string[] = []
    const query = (text: string, values: unknown[]) => {
      statements.push(text.trim().split(' ')[0]!)
      return pool.query(text, values)
    }
    const held = new HeldKeys({ ...holds, pool: { query } as Pool })
    await held.write({
      store: async () => {
        for (const each of [`${key}1`, key, `${key}2`, key]) await held.acquire(each)
        expect(statements.splice(0)).toEqual(['WITH', 'WITH', 'WITH'])
        await expireIn(25)
        await eventually(async () => expect(Math.min(...(await readSecondsLeft()))).toBeGreaterThan(30))
        expect(statements.splice(0)).toEqual(['UPDATE'])
        expect(await readSecondsLeft()).toHaveLength(3)
      },
      commit: async () => {},
    })
    expect(statements).toEqual(['DELETE'])
    expect(await readSecondsLeft()).toEqual([])
  })

  test('that has ended lets its process commit nothing, although the others of the write have not', async () => {
    const held = new HeldKeys({ ...holds, pool })
    const write = held.write({
      store: async () => {
        await held.acquire(`${key}1`)
        await held.acquire(key)
        await pool.query(
          `UPDATE training.held_keys SET expires_at = clock_timestamp() - interval '1 second' WHERE key = $1`,
          [key],
        )
        await delay(12_000)
      },
      commit: () => Promise.reject(new Error('committed')),
    })
    await expect(write).rejects.toThrow('could not be renewed')
  })

  test('ends a minute after the kill -9 of its process', async () => {
    const script = `
      import { createPool } from './db/pool.ts'
      import { HeldKeys } from './db/store/held-keys.ts'
      import { createLogger } from './lib/log.ts'
      const pool = createPool(process.env.DATABASE_URL, createLogger('test', 'silent'), 1)
      await new HeldKeys({ pool, schema: 'training' }).acquire(process.env.KEY)
      console.log('held')`
    const env = { ...nodeEnv, DATABASE_URL: database.databaseUrl, KEY: key }
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    const [left] = await readSecondsLeft()
    expect(left).toBeGreaterThan(30)
    expect(left).toBeLessThanOrEqual(60)
    expect(await isFree()).toBe(false)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const killed = performance.now()
    await expireIn(10)
    await eventually(async () => expect(await isFree()).toBe(true))
    expect(performance.now() - killed).toBeGreaterThan(8_000)
  })

  test('of a process of the earlier version lasts six hours', async () => {
    await pool.query('INSERT INTO training.held_keys (key, holder) VALUES ($1, $2)', [key, randomUUID()])
    expect(await readSecondsLeft()).toEqual([expect.closeTo(6 * 3600, -2)])
    await expireHolds({ ...holds, pool })
    expect(await isFree()).toBe(false)
  })
})

describe('a file of a data set', () => {
  const digest = sha256('rows')
  const key = keyOf('blob', { entity: 'team', object: digest })
  const erasure = (): RunningErasure => ({
    id: randomUUID(),
    entity: 'team',
    project: null,
    keyId: randomUUID(),
    requestedAt: new Date(),
    measuredAt: null,
    ageSeconds: 60,
  })
  const upload = async (into = artifacts) => {
    const { file, size } = await spool('rows')
    return keepBlob(apiDeps(into), 'team', { file, digest, size, broken: undefined })
  }

  async function request(): Promise<RunningErasure> {
    const asked = erasure()
    await pool.query('INSERT INTO training.erasures (id, entity, key_id) VALUES ($1, $2, $3)', [
      asked.id,
      asked.entity,
      asked.keyId,
    ])
    return asked
  }

  test('that is uploaded during its erasure exists afterwards', async () => {
    await upload()
    const race = removeWhile(() => upload())
    await eraseBlobs({ pool, artifacts: race.store }, await request())
    await race.finish()
    expect([await isThere(key), await countBlobs()]).toEqual([true, 1])
  })

  test('is not erased between the writes of its bytes and its row', async () => {
    await upload()
    const asked = await request()
    await artifacts.remove(key)
    let areFree: boolean | undefined
    const store = interrupted('adopt', 'after', async () => {
      await pool.query("UPDATE training.blobs SET created_at = created_at - interval '1 hour'")
      areFree = await eraseBlobs({ pool, artifacts }, asked)
    })
    await upload(store)
    expect([areFree, await isThere(key), await countBlobs()]).toEqual([false, true, 1])
  })

  test('is removed by an erasure together with its row, or not at all', async () => {
    await upload()
    const asked = await request()
    const broken = interrupted('remove', 'before', () => Promise.reject(new Error('no store')))
    await expect(eraseBlobs({ pool, artifacts: broken }, asked)).rejects.toThrow('no store')
    expect([await isThere(key), await countBlobs()]).toEqual([true, 1])
    expect(await eraseBlobs({ pool, artifacts }, asked)).toBe(true)
    expect([await isThere(key), await countBlobs()]).toEqual([false, 0])
    const { rows } = await pool.query('SELECT report FROM training.erasures WHERE id = $1', [asked.id])
    expect(rows).toEqual([{ report: { objects: 1, bytes: 4 } }])
  })

  const countBlobs = async () => (await pool.query('SELECT FROM training.blobs')).rowCount
})

test('bytes that are stored during a measurement count until the next one', async () => {
  const query = async (...args: [string, unknown[]]) => {
    const result = await pool.query(...args)
    // Committed after the read.
    meter.record('team', 50)
    return result
  }
  const slow = new Proxy(pool, { get: (original, name) => (name === 'query' ? query : Reflect.get(original, name)) })
  const meter = new StorageMeter({ pool: slow, tracing })
  expect((await meter.estimate('team', 1_000)).stored).toBe(50)
  meter.record('team', 7)
  expect((await meter.estimate('team', 1_000)).stored).toBe(57)
  await meter.measure('team')
  expect((await meter.estimate('team', 1_000)).stored).toBe(50)
})

describe('a payload of a call', () => {
  const json = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)))
  const start = {
    traceId: 't',
    opName: 'op',
    startedAt: '2026-01-01T00:00:00.000000Z',
    attributes: json({}),
    wbUserId: 'u',
  }
  const callOf = (letter: string) => ({ id: 'call', start: { ...start, inputs: json(letter.repeat(300_000)) } })
  const retain = (store = artifacts) => applyTraceRetention({ tracing, artifacts: store, log, traceDays: null })
  const writeTo = (store: ArtifactStore, letter: string) =>
    new CallWriter(tracing, store).write(project, [callOf(letter)])
  let project: { number: number; entity: string; name: string; id: string }

  beforeEach(async () => {
    await tracing.query('TRUNCATE tracing.calls, tracing.replaced_payloads, tracing.held_keys')
    const number = await openTraceProject(tracing, 'team', randomUUID())
    project = { number, entity: 'team', name: 'p', id: 'team/p' }
  })

  async function expectWhole(letter: string): Promise<void> {
    const { rows } = await tracing.query<{ key: string }>(
      "SELECT spilled -> 'inputs' ->> 'key' AS key FROM tracing.calls",
    )
    expect(rows).toHaveLength(1)
    expect(await readFile(path.join(root, rows[0]!.key), 'utf8')).toBe(JSON.stringify(letter.repeat(300_000)))
  }

  const obsolete: [string, () => Promise<unknown>][] = [
    [
      'was replaced',
      async () => {
        await writeTo(artifacts, 'b')
        await tracing.query("UPDATE tracing.replaced_payloads SET replaced_at = now() - interval '2 hours'")
      },
    ],
    [
      'belongs to a deleted call',
      () => tracing.query("UPDATE tracing.calls SET deleted_at = now() - interval '8 days'"),
    ],
  ]

  test.each(obsolete)(
    'that %s and is written again is not removed between the writes of its bytes and its row',
    async (_, retire) => {
      await writeTo(artifacts, 'a')
      await retire()
      await writeTo(interrupted('put', 'after', retain), 'a')
      await expectWhole('a')
      await tracing.query("UPDATE tracing.replaced_payloads SET replaced_at = now() - interval '2 hours'")
      await retain()
      await expectWhole('a')
      expect((await tracing.query('SELECT FROM tracing.held_keys')).rowCount).toBe(0)
    },
  )

  test.each(obsolete)('that %s and is written again during its removal exists afterwards', async (_, retire) => {
    await writeTo(artifacts, 'a')
    await retire()
    const race = removeWhile(() => writeTo(artifacts, 'a'))
    await retain(race.store)
    await race.finish()
    await expectWhole('a')
  })
})
