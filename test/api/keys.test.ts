import { execFile } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { revokeApiKey } from '../../db/accounts/api-keys.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { withoutLeases } from '../support/leases.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { nodeEnv } from '../support/node-env.ts'
import { useServices } from '../support/services.ts'
import { TrainingRows } from '../support/training-rows.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const path = '/v1/preview/keys'

interface Key extends Record<string, unknown> {
  id: string
  key: string
  role: string
  prefix: string
  expires_at: string | null
  last_used_at: string | null
}

const database = useTestDatabase()
let servers: ServedApi[]
let entity: string
let adminKey: string
let admin: Rest

beforeAll(async () => {
  servers = [await serveApi(stack, database.databaseUrl), await serveApi(stack, database.databaseUrl)]
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  adminKey = await addKey(database.pool, entity, 'admin')
  admin = restWith(adminKey)
})
afterAll(() => Promise.all((servers ?? []).map((server) => server.remove())))

const restWith = (key: string, server = servers[0]!) => createRest({ ...stack, url: server.url }, key)
const make = (body: object = {}) => admin.call<Key>('POST', path, body)
const read = (id: string) => admin.call<Key>('GET', `${path}/${id}`)
const statusOf = async (key: string, server = servers[0]!) =>
  (await restWith(key, server).send('GET', '/v1/models')).status
const hide = (made: Key) => Object.fromEntries(Object.entries(made).filter(([name]) => name !== 'key'))

describe('a new key', () => {
  test('is shown once, and stored only as its SHA-256', async () => {
    const made = await make({ name: 'ci', role: 'read', expires_in_seconds: 3_600 })
    expect(made).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^ty_[A-Za-z0-9]{40,}$/),
      name: 'ci',
      role: 'read',
      prefix: made.key.slice(0, 9),
      created_at: expect.any(String),
      expires_at: expect.any(String),
      revoked_at: null,
      last_used_at: null,
      replaced_by: null,
      trace_project: null,
    })
    const seconds = (Date.parse(made.expires_at!) - Date.now()) / 1_000
    expect(seconds).toBeGreaterThan(3_500)
    expect(seconds).toBeLessThan(3_700)
    expect(await read(made.id)).toEqual(hide(made))
    expect(await statusOf(made.key)).toBe(200)
    expect(await dumpDatabase()).not.toContain(made.key.slice(12))
  })

  test('has the role member and no expiry by default', async () => {
    for (const body of [undefined, {}, { role: null, name: null, expires_at: null, expires_in_seconds: null }]) {
      const made = await admin.call<Key>('POST', path, body)
      expect(made).toMatchObject({ role: 'member', name: null, expires_at: null })
    }
  })

  test.each([
    ['an unknown role', { role: 'owner' }, ['body', 'role']],
    ['a time in the past', { expires_at: '2020-01-01T00:00:00Z' }, ['body', 'expires_at']],
    ['an invalid time', { expires_at: 'tomorrow' }, ['body', 'expires_at']],
    ['zero seconds', { expires_in_seconds: 0 }, ['body', 'expires_in_seconds']],
    ['two times', { expires_in_seconds: 5, expires_at: '2090-01-01T00:00:00Z' }, ['body', 'expires_at']],
    ['a NUL in its name', { name: 'a\0b' }, ['body', 'name']],
    ['a name that is too long', { name: 'x'.repeat(129) }, ['body', 'name']],
  ])('is rejected with %s', async (_, body, loc) => {
    const response = await admin.send('POST', path, body)
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 422,
      body: { detail: [{ loc }] },
    })
  })

  test('with an Idempotency-Key is created once, shown again to its creator, and not stored', async () => {
    const makeOnce = (key: string) =>
      post(servers[0]!.url + path, key, { name: 'once' }, { headers: { 'idempotency-key': 'once' } })
    const [first, second] = [await makeOnce(adminKey), await makeOnce(adminKey)]
    const made = (await first.json()) as Key
    expect(await second.json()).toEqual(made)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await statusOf(made.key)).toBe(200)
    expect((await makeOnce(await addKey(database.pool, entity, 'admin'))).status).toBe(409)
    expect((await admin.listAll<Key>(path)).filter((key) => key['name'] === 'once')).toHaveLength(1)
    expect(await dumpDatabase()).not.toContain(made.key.slice(12))
  })
})

/** All database rows of keys and responses. */
async function dumpDatabase(): Promise<string> {
  const { rows } = await database.pool.query(
    `SELECT to_jsonb(k) AS row FROM auth.api_keys k UNION ALL SELECT to_jsonb(r) FROM auth.idempotent_requests r`,
  )
  return JSON.stringify(rows)
}

describe('keys', () => {
  test('are listed in pages, oldest first, with the revoked ones', async () => {
    const made = [await make({ name: 'a' }), await make({ name: 'b' }), await make({ name: 'c' })]
    await admin.call('DELETE', `${path}/${made[1]!.id}`)
    const listed = await admin.listAll<Key>(path)
    expect(listed.map((key) => key['name'])).toEqual([null, 'a', 'b', 'c'])
    const page = await admin.call<{ data: Key[]; has_more: boolean }>('GET', `${path}?limit=1&after=${made[1]!.id}`)
    expect(page).toMatchObject({ data: [{ id: made[2]!.id }], has_more: false })
    expect(JSON.stringify(listed)).not.toContain(made[0]!.key.slice(12))
  })

  test('of other entities are not found', async () => {
    const theirs = await restWith(await addKey(database.pool, `other-${entity}`, 'admin')).call<Key>('POST', path)
    const asked = [
      await admin.send('GET', `${path}/${theirs.id}`),
      await admin.send('DELETE', `${path}/${theirs.id}`),
      await admin.send('POST', `${path}/${theirs.id}/rotate`),
      await admin.send('GET', `${path}/${randomUUID()}`),
      await admin.send('GET', `${path}/nonsense`),
    ]
    for (const response of asked) {
      expect({ status: response.status, body: await response.json() }).toEqual({
        status: 404,
        body: { detail: 'Key not found' },
      })
    }
    expect(await statusOf(theirs.key)).toBe(200)
    expect((await admin.send('GET', `${path}?after=${theirs.id}`)).status).toBe(422)
  })

  test('without the newer prefix still work', async () => {
    const old = randomBytes(32).toString('hex')
    const digest = createHash('sha256').update(old).digest()
    await database.pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [entity, digest])
    expect(await statusOf(old)).toBe(200)
    expect((await admin.listAll<Key>(path)).at(-1)).toMatchObject({ role: 'admin', prefix: null })
  })

  test('end at their expiry', async () => {
    const { key } = await make({ expires_in_seconds: 1 })
    expect(await statusOf(key)).toBe(200)
    await eventually(async () => expect(await statusOf(key)).toBe(401))
  })

  test('have the time of their last use, updated at most once a minute', async () => {
    const made = await make()
    const useAndRead = async () => {
      expect(await statusOf(made.key)).toBe(200)
      return (await read(made.id)).last_used_at
    }
    const first = await eventually(async () => {
      const time = await useAndRead()
      expect(time).not.toBeNull()
      return time!
    })
    expect(Math.abs(Date.parse(first) - Date.now())).toBeLessThan(10_000)
    await database.pool.query("UPDATE auth.api_keys SET last_used_at = now() - interval '50 s' WHERE id = $1", [
      made.id,
    ])
    const recent = await useAndRead()
    expect(await statusOf(made.key, servers[1])).toBe(200)
    // By now, the other process has written its rows.
    await eventually(async () => {
      const another = await make()
      expect(await statusOf(another.key, servers[1])).toBe(200)
      await eventually(async () => expect((await read(another.id)).last_used_at).not.toBeNull())
    })
    expect((await read(made.id)).last_used_at).toBe(recent)
  })
})

describe('a revoked key', () => {
  test('is rejected by every process at its next request', async () => {
    const { id, key } = await make()
    expect([await statusOf(key, servers[0]), await statusOf(key, servers[1])]).toEqual([200, 200])
    const revoked = await admin.call<Key>('DELETE', `${path}/${id}`)
    expect([await statusOf(key, servers[0]), await statusOf(key, servers[1])]).toEqual([401, 401])
    expect(revoked['revoked_at']).not.toBeNull()
    // Its use may have been written in between.
    const repeated = await admin.call<Key>('DELETE', `${path}/${id}`)
    expect(repeated).toEqual({ ...revoked, last_used_at: repeated.last_used_at })
  })

  test('ends its open streams', async () => {
    const { key, id } = await make()
    const rows = new TrainingRows(database.pool, entity)
    const jobId = await rows.addJob(await rows.addModel())
    const response = await fetch(`${servers[1]!.url}/v1/preview/training-jobs/${jobId}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    })
    const ended = response.text()
    await withoutLeases(database.pool, (connection) =>
      revokeApiKey(connection, { entity, id, keepAdmin: false, by: 'command' }),
    )
    const revokedAtMs = performance.now()
    expect(await ended).toContain(': closing')
    expect(performance.now() - revokedAtMs).toBeLessThan(5_000)
  })

  test('cannot be the last admin key of its entity', async () => {
    const [own] = await admin.listAll<Key>(path)
    await make({ role: 'member' })
    const short = await make({ role: 'admin', expires_in_seconds: 1 })
    await eventually(async () => expect(await statusOf(short.key)).toBe(401))
    const response = await admin.send('DELETE', `${path}/${own!.id}`)
    expect(response.status).toBe(409)
    expect(((await response.json()) as { detail: string }).detail).toContain(`last admin key of ${entity}`)
    await make({ role: 'admin' })
    expect((await admin.send('DELETE', `${path}/${own!.id}`)).status).toBe(200)
    expect(await statusOf(adminKey)).toBe(401)
  })

  test('leaves one admin key when all are revoked concurrently', async () => {
    for (let count = 0; count < 5; count++) await make({ role: 'admin' })
    const keys = await admin.listAll<Key>(path)
    const revocations = keys.map(({ id }) =>
      withoutLeases(database.pool, (connection) =>
        revokeApiKey(connection, { entity, id, keepAdmin: true, by: 'command' }),
      ),
    )
    expect((await Promise.all(revocations)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'last admin',
      ...Array.from({ length: 5 }, () => 'revoked'),
    ])
  })
})

describe('rotation', () => {
  test('keeps the old key valid for the overlap', async () => {
    const old = await make({ name: 'deploy', role: 'read' })
    const fresh = await admin.call<Key>('POST', `${path}/${old.id}/rotate`, { overlap_seconds: 2 })
    expect(fresh).toMatchObject({ name: 'deploy', role: 'read', expires_at: null })
    expect(fresh.id).not.toBe(old.id)
    expect([await statusOf(old.key), await statusOf(fresh.key)]).toEqual([200, 200])
    expect(await read(old.id)).toMatchObject({ replaced_by: fresh.id, expires_at: expect.any(String) })
    await eventually(async () => expect(await statusOf(old.key)).toBe(401))
    expect(await statusOf(fresh.key)).toBe(200)
  })

  test('overlaps for an hour by default, and never extends the expiry', async () => {
    const long = await make({ expires_in_seconds: 86_400 })
    const fresh = await admin.call<Key>('POST', `${path}/${long.id}/rotate`)
    const hours = async (key: Key) => (Date.parse((await read(key.id)).expires_at!) - Date.now()) / 3_600_000
    expect(await hours(long)).toBeCloseTo(1, 1)
    expect(await hours(fresh)).toBeCloseTo(24, 1)
    const short = await make({ expires_in_seconds: 60 })
    await admin.call('POST', `${path}/${short.id}/rotate`, { overlap_seconds: 86_400 })
    expect(await hours(short)).toBeLessThan(0.1)
  })

  test('is done once', async () => {
    const old = await make()
    await admin.call('POST', `${path}/${old.id}/rotate`)
    expect((await admin.send('POST', `${path}/${old.id}/rotate`)).status).toBe(409)
    const gone = await make()
    await admin.call('DELETE', `${path}/${gone.id}`)
    expect((await admin.send('POST', `${path}/${gone.id}/rotate`)).status).toBe(409)
    const [third, ...both] = [await make(), 1, 1]
    const racing = both.map(() => admin.send('POST', `${path}/${third.id}/rotate`))
    expect((await Promise.all(racing)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  test('for more than 30 days is rejected', async () => {
    const { id } = await make()
    expect((await admin.send('POST', `${path}/${id}/rotate`, { overlap_seconds: 30 * 86_400 + 1 })).status).toBe(422)
  })
})

describe('roles', () => {
  test.each([
    ['read', 'GET', '/v1/models', 200],
    ['read', 'GET', '/v1/preview/limits', 200],
    ['read', 'GET', '/v1/preview/usage', 403],
    ['read', 'POST', '/v1/preview/models', 403],
    ['read', 'POST', '/v1/preview/training-jobs', 403],
    ['read', 'GET', path, 403],
    ['member', 'GET', '/v1/preview/usage', 200],
    ['member', 'POST', '/v1/preview/models', 422],
    ['member', 'POST', path, 403],
    ['member', 'GET', path, 403],
    ['admin', 'GET', path, 200],
  ])('%s may %s %s: %i', async (role, method, route, status) => {
    const rest = restWith(await addKey(database.pool, entity, role))
    expect((await rest.send(method, route, method === 'POST' ? {} : undefined)).status).toBe(status)
  })
})

describe('the command in the image', () => {
  const run = promisify(execFile)
  const command = (...args: string[]) =>
    run(process.execPath, ['apiserver/accounts/admin/main.ts', ...args], {
      env: { ...nodeEnv, DATABASE_URL: database.databaseUrl },
    })

  test('creates, lists, rotates and revokes keys', async () => {
    const made = await command('key', entity, '--role', 'read', '--name', 'cli', '--expires-in', '30d')
    expect(await statusOf(made.stdout.trim())).toBe(200)
    const listed = (await admin.listAll<Key>(path)).at(-1)!
    expect(listed).toMatchObject({ name: 'cli', role: 'read', prefix: made.stdout.slice(0, 9) })
    const rotated = await command('key', entity, '--rotate', listed.id, '--overlap', '0s')
    expect([await statusOf(made.stdout.trim()), await statusOf(rotated.stdout.trim())]).toEqual([401, 200])
    const [first] = await admin.listAll<Key>(path)
    await command('key', entity, '--revoke', first!.id)
    expect(await statusOf(adminKey)).toBe(401)
    const { stdout } = await command('key', entity, '--list')
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[1]).toMatch(/ revoked /)
    expect(lines[3]).toMatch(/ty_\w{6}… +read +cli +- +valid until /)
  })

  test.each([
    ['a reserved entity', ['key', 'admin'], /"admin" is reserved/],
    ['an unknown id', ['key', 'team', '--revoke', 'x'], /Key not found/],
    ['nothing', [], /usage/],
  ])('fails with a message for %s', async (_, args, sentence) => {
    const stderr = expect.stringMatching(new RegExp(`${sentence.source}[^\\n]*\\n$`)) as string
    await expect(command(...args)).rejects.toMatchObject({ code: 1, stderr })
  })
})
