import { createHash, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { prepareAdminCommand } from '../../apiserver/accounts/admin/run.ts'
import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { addKey, serveApi, useApiServer } from '../support/api-server.ts'
import { openEventStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { eventsOf } from '../support/followed-jobs.ts'
import { useServices } from '../support/services.ts'
import { TrainingRows } from '../support/training-rows.ts'

const stack = useServices()
const own = useApiServer()
const path = '/v1/preview/session'
const json = { 'content-type': 'application/json' }

let entity: string
let key: string

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity, 'admin')
})

const send = (method: string, target: string, headers: Record<string, string>, body?: unknown) =>
  fetch(own.server.url + target, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })

const logIn = (body: object, headers: Record<string, string> = {}) => send('POST', path, { ...json, ...headers }, body)

/** Logs in and returns the Cookie header of later requests. */
async function openSession(body: object = { api_key: key }, headers: Record<string, string> = {}): Promise<string> {
  const response = await logIn(body, headers)
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')!.split(';')[0]!
}

const samePage = { 'sec-fetch-site': 'same-origin', ...json }
const statusOf = async (cookie: string) => (await send('GET', path, { cookie })).status
const makeCode = async (role: 'admin' | 'member' | 'read' = 'admin') => {
  const link = await createConsoleLink(own.database.pool, { entity, role, url: own.server.url })
  return /\/login#code=([\w-]{43})$/.exec(link)![1]!
}

describe('a session', () => {
  test('says who it is, and its value is stored only as its SHA-256', async () => {
    const response = await logIn({ api_key: key })
    const cookie = response.headers.get('set-cookie')!
    expect(cookie).toMatch(/^ty_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
    const session = (await response.json()) as { expires_at: string }
    expect(session).toEqual({
      kind: 'session',
      entity,
      role: 'admin',
      key_id: expect.any(String),
      created_at: expect.any(String),
      expires_at: expect.any(String),
    })
    const hours = (Date.parse(session.expires_at) - Date.now()) / 3_600_000
    expect([hours > 11.9, hours <= 12]).toEqual([true, true])
    const value = cookie.split(';')[0]!
    expect(await (await send('GET', path, { cookie: `theme=dark; ${value}` })).json()).toEqual(session)
    const digest = createHash('sha256').update(value.slice('ty_session='.length)).digest()
    const { rowCount } = await own.database.pool.query('SELECT FROM auth.sessions WHERE digest = $1', [digest])
    expect(rowCount).toBe(1)
  })

  test('works for every group of operations, with its role', async () => {
    const cookie = await openSession({ api_key: await addKey(own.database.pool, entity, 'read') })
    const statuses = [
      await send('GET', '/v1/models', { cookie }),
      await send('GET', '/v1/preview/training-jobs', { cookie }),
      await send('GET', '/server_info', { cookie }),
      await send('POST', '/traces/calls/stream_query', { cookie, ...samePage }, { project_id: `${entity}/none` }),
      // The model does not exist. The gateway answers it, so that it knows the caller.
      await send('POST', '/v1/chat/completions', { cookie, ...samePage }, { model: 'none', messages: [] }),
      await send('POST', '/v1/preview/models', { cookie, ...samePage }, { project: 'a', name: 'b' }),
      await send('GET', '/v1/preview/keys', { cookie }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200, 200, expect.any(Number), 403, 403])
    expect([400, 404, 422]).toContain(statuses[4])
  })

  test('does not count beside an Authorization header, nor as a key', async () => {
    const cookie = await openSession()
    expect((await send('GET', path, { cookie, authorization: 'Bearer none' })).status).toBe(401)
    expect((await send('GET', path, { cookie, authorization: 'Negotiate x' })).status).toBe(401)
    const value = cookie.slice('ty_session='.length)
    for (const bearer of [value, `session:${value}`])
      expect((await send('GET', path, { authorization: `Bearer ${bearer}` })).status).toBe(401)
    expect(await statusOf(`ty_session=${key}`)).toBe(401)
  })

  test('shows nothing of other entities', async () => {
    const rows = new TrainingRows(own.database.pool)
    const foreign = await rows.addModel()
    const cookie = await openSession()
    expect((await send('GET', `/v1/preview/models/${foreign}`, { cookie })).status).toBe(404)
    expect((await send('DELETE', `/v1/preview/models/${foreign}`, { cookie, ...samePage })).status).toBe(404)
    const foreignProject = await send(
      'POST',
      '/traces/calls/stream_query',
      { cookie, ...samePage },
      { project_id: 'team/project' },
    )
    expect(foreignProject.status).toBe(403)
  })

  test('creates keys, and shows a new key again to itself only', async () => {
    const cookie = await openSession()
    const once = { ...samePage, 'idempotency-key': 'once' }
    const make = async (sent: string) => send('POST', '/v1/preview/keys', { cookie: sent, ...once }, {})
    const [first, second] = [await make(cookie), await make(cookie)]
    const made = (await first.json()) as { key: string }
    expect(await second.json()).toEqual(made)
    expect((await send('GET', path, { authorization: `Bearer ${made.key}` })).status).toBe(200)
    expect((await make(await openSession())).status).toBe(409)
  })

  test('ends when its browser logs out', async () => {
    const [cookie, other] = [await openSession(), await openSession()]
    const response = await send('DELETE', path, { cookie, ...samePage })
    expect(response.status).toBe(204)
    expect(response.headers.get('set-cookie')).toMatch(/^ty_session=; Path=\/; Max-Age=0;/)
    expect([await statusOf(cookie), await statusOf(other)]).toEqual([401, 200])
    expect((await send('DELETE', path, { authorization: `Bearer ${key}` })).status).toBe(204)
    expect((await send('GET', path, { authorization: `Bearer ${key}` })).status).toBe(200)
  })

  test('ends within a second with its key, on every server, and so does its stream', async () => {
    const second = await serveApi(stack, own.database.databaseUrl)
    try {
      const rows = new TrainingRows(own.database.pool, entity)
      const job = await rows.addJob(await rows.addModel())
      const cookie = await openSession()
      const { key_id } = (await (await send('GET', path, { cookie })).json()) as { key_id: string }
      const stream = await openEventStream(own.server.url + eventsOf(job), { cookie })
      expect(stream.status).toBe(200)
      expect((await fetch(second.url + path, { headers: { cookie } })).status).toBe(200)
      const admin = await addKey(own.database.pool, entity, 'admin')
      const begunMs = performance.now()
      await send('DELETE', `/v1/preview/keys/${key_id}`, { authorization: `Bearer ${admin}` })
      expect([await statusOf(cookie), (await fetch(second.url + path, { headers: { cookie } })).status]).toEqual([
        401, 401,
      ])
      await stream.ended.catch(() => {})
      // The goal is a second. A loaded machine may take ten times as long.
      expect(performance.now() - begunMs).toBeLessThan(10_000)
    } finally {
      await second.remove()
    }
  })

  test.each([
    ['12 hours after its last use', "used_at = now() - interval '12 hours 1 second'", 401],
    ['not 11 hours after it', "used_at = now() - interval '11 hours'", 200],
    ['after 30 days', "created_at = now() - interval '30 days 1 second'", 401],
    ['not after 29 days', "created_at = now() - interval '29 days'", 200],
  ])('ends %s', async (_, change, status) => {
    const cookie = await openSession()
    const { key_id } = (await (await send('GET', path, { cookie })).json()) as { key_id: string }
    await own.database.pool.query(`UPDATE auth.sessions SET ${change} WHERE key_id = $1`, [key_id])
    await eventually(async () => expect(await statusOf(cookie)).toBe(status))
  })

  test('is kept by its use', async () => {
    const cookie = await openSession()
    const { key_id } = (await (await send('GET', path, { cookie })).json()) as { key_id: string }
    const pool = own.database.pool
    await pool.query(`UPDATE auth.sessions SET used_at = now() - interval '11 hours' WHERE key_id = $1`, [key_id])
    await eventually(async () => {
      expect(await statusOf(cookie)).toBe(200)
      const { rows } = await pool.query(
        'SELECT FROM auth.sessions WHERE key_id = $1 AND used_at > now() - $2::interval',
        [key_id, '5 minutes'],
      )
      expect(rows).toHaveLength(1)
    }, 100_000)
  })

  test('is one of a hundred of its key', async () => {
    const first = await openSession()
    const { key_id } = (await (await send('GET', path, { cookie: first })).json()) as { key_id: string }
    await own.database.pool.query(
      `INSERT INTO auth.sessions (digest, key_id) SELECT sha256(n::text::bytea), $1 FROM generate_series(1, 100) AS n`,
      [key_id],
    )
    const last = await openSession()
    await eventually(async () => expect([await statusOf(first), await statusOf(last)]).toEqual([401, 200]), 1_000)
    const { rows } = await own.database.pool.query('SELECT FROM auth.sessions WHERE key_id = $1', [key_id])
    expect(rows).toHaveLength(100)
  })
})

describe('a request with a cookie that changes something', () => {
  test.each<[string, Record<string, string>, number]>([
    ['of a page of this server', { 'sec-fetch-site': 'same-origin' }, 422],
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another port', { 'sec-fetch-site': 'same-site', origin: 'HERE' }, 403],
    ['typed by a person', { 'sec-fetch-site': 'none' }, 403],
    ['of this origin, by an old browser', { origin: 'HERE' }, 422],
    ['of another origin', { origin: 'https://evil.example' }, 403],
    ['of a hidden origin', { origin: 'null' }, 403],
    ['without any origin', {}, 403],
    ['of a form', { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }, 415],
    ['without a type', { 'sec-fetch-site': 'same-origin', 'content-type': '' }, 415],
  ])('%s', async (_, given, status) => {
    const cookie = await openSession()
    const headers: Record<string, string> = { cookie, ...json, ...given }
    if (headers['origin'] === 'HERE') headers['origin'] = own.server.url
    for (const [target, answer] of [
      ['/v1/preview/models', status],
      ['/traces/calls/stream_query', status],
      ['/v1/chat/completions', status],
    ] as const)
      expect([target, (await send('POST', target, headers, { base_model: 1 })).status]).toEqual([target, answer])
  })

  test('behind a proxy that ends TLS has a cookie that only HTTPS gets', async () => {
    const server = await serveApi(stack, own.database.databaseUrl, { TRAINYARD_PUBLIC_URL: 'https://train.example' })
    try {
      const origin = { origin: 'https://train.example' }
      const post = (target: string, headers: Record<string, string>, body: object) =>
        fetch(server.url + target, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
      const response = await post(path, origin, { api_key: key })
      const cookie = response.headers.get('set-cookie')!
      expect(cookie).toMatch(/^__Host-ty_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/)
      const sent = cookie.split(';')[0]!
      expect((await post('/v1/preview/models', { ...origin, cookie: sent }, {})).status).toBe(422)
      expect((await post('/v1/preview/models', { origin: 'http://train.example:81', cookie: sent }, {})).status).toBe(
        403,
      )
      // Whoever can change plain HTTP could set this one.
      const plain = sent.replace('__Host-', '')
      expect((await post('/v1/preview/models', { ...origin, cookie: plain }, {})).status).toBe(401)
    } finally {
      await server.remove()
    }
  })
})

describe('a login', () => {
  test.each<[string, object, Record<string, string>, number]>([
    ['an unknown key', { api_key: 'ty_none' }, {}, 401],
    ['an unknown code', { code: 'none' }, {}, 401],
    ['neither', {}, {}, 422],
    ['both', { api_key: 'a', code: 'b' }, {}, 422],
    ['another member', { key: 'a' }, {}, 422],
    ['a page of another site', { api_key: 'KEY' }, { 'sec-fetch-site': 'cross-site' }, 403],
    ['another origin', { api_key: 'KEY' }, { origin: 'https://evil.example' }, 403],
    ['the type of a form', { api_key: 'KEY' }, { 'content-type': 'text/plain' }, 415],
  ])('with %s is rejected', async (_, body, headers, status) => {
    const response = await logIn(JSON.parse(JSON.stringify(body).replace('KEY', key)) as object, headers)
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, null])
  })

  test('with the key of a session is none of an expired or revoked key', async () => {
    const digest = createHash('sha256').update(key).digest()
    await own.database.pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE digest = $1', [digest])
    expect((await logIn({ api_key: key })).status).toBe(401)
  })

  test('with too many wrong keys has to wait with others, and not with a right one', async () => {
    const server = await serveApi(stack, own.database.databaseUrl)
    try {
      const attempt = (body: object) =>
        fetch(server.url + path, { method: 'POST', headers: json, body: JSON.stringify(body) })
      const statuses = new Set<number>()
      for (let count = 0; count < 120; count++) statuses.add((await attempt({ code: `wrong ${count}` })).status)
      expect([...statuses]).toEqual([401])
      const response = await attempt({ api_key: 'wrong too' })
      expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect((await attempt({ api_key: key })).status).toBe(200)
      expect((await attempt({ code: await makeCode('read') })).status).toBe(200)
    } finally {
      await server.remove()
    }
  })
})

describe('a login code', () => {
  test('opens one session, even if many requests use it at once', async () => {
    const code = await makeCode('read')
    const responses = await Promise.all(Array.from({ length: 8 }, () => logIn({ code })))
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 401),
    ])
    const opened = responses.find(({ status }) => status === 200)!
    expect(await opened.json()).toMatchObject({ entity, role: 'read' })
    expect((await logIn({ code })).status).toBe(401)
  })

  test('cannot be spent after ten minutes', async () => {
    const [early, late] = [await makeCode(), await makeCode()]
    const shift = (code: string, seconds: number) =>
      own.database.pool.query(
        'UPDATE auth.login_codes SET expires_at = expires_at - make_interval(secs => $2) WHERE digest = $1',
        [createHash('sha256').update(code).digest(), seconds],
      )
    await shift(early, 570)
    await shift(late, 600)
    expect([(await logIn({ code: early })).status, (await logIn({ code: late })).status]).toEqual([200, 401])
  })

  test('belongs to one key of its entity and role, and ends with it', async () => {
    const [first, second] = [await makeCode(), await makeCode()]
    const { key_id } = (await (await logIn({ code: first })).json()) as { key_id: string }
    await own.database.pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE id = $1', [key_id])
    expect((await logIn({ code: second })).status).toBe(401)
    const { rows } = await own.database.pool.query(
      `SELECT name, role FROM auth.api_keys WHERE entity = $1 AND id = $2`,
      [entity, key_id],
    )
    expect(rows).toEqual([{ name: 'console', role: 'admin' }])
    expect(await statusOf(await openSession({ code: await makeCode() }))).toBe(200)
  })

  test('comes from a command', async () => {
    expect(() => prepareAdminCommand('console', [entity, '--role', 'owner', '--url', 'http://here'])).toThrow('usage:')
    expect(() => prepareAdminCommand('console', ['login', '--url', 'http://here'])).toThrow('reserved')
    expect(() => prepareAdminCommand('console', [entity])).toThrow('usage:')
  })
})
