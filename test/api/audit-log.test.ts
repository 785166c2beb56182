import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { recordAct } from '../../db/accounts/audit-log.ts'
import { withTransaction } from '../../db/pool.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { nodeEnv } from '../support/node-env.ts'
import { useServices } from '../support/services.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const own = useApiServer()
const restWith = (key: string) => createRest({ ...stack, url: own.server.url }, key)
const path = '/v1/preview/audit-log'
const run = promisify(execFile)

interface Act {
  id: string
  at: string
  actor: string
  action: string
  subject: string | null
  details: Record<string, unknown>
}

let entity: string
let key: string
let actor: string
let admin: Rest
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity, 'admin')
  admin = restWith(key)
  actor = (await admin.call<{ data: { id: string }[] }>('GET', '/v1/preview/keys')).data[0]!.id
})

const listActs = () => admin.listAll<Act>(path)
const shorten = ({ actor: by, action, subject, details }: Act) => ({ by, action, subject, details })

/** Runs the administrator's command as in the image. */
async function runCommand(...args: string[]): Promise<string> {
  const env = { ...process.env, ...nodeEnv, DATABASE_URL: own.database.databaseUrl }
  return (await run(process.execPath, ['apiserver/accounts/admin/main.ts', ...args], { env })).stdout
}

test('acts of admins are recorded with their actor, without secrets', async () => {
  const made = await admin.call<{ id: string; key: string }>('POST', '/v1/preview/keys', { name: 'Ada', role: 'read' })
  const rotated = await admin.call<{ id: string }>('POST', `/v1/preview/keys/${made.id}/rotate`, { overlap_seconds: 5 })
  await admin.call('DELETE', `/v1/preview/keys/${rotated.id}`)
  await admin.call('DELETE', `/v1/preview/keys/${rotated.id}`)
  await admin.call('PUT', '/v1/preview/limits/token-statistics', { token_statistics: 'off' })
  await admin.call('PUT', '/v1/preview/projects/own/trace-retention', { days: 9 })
  const url = 'https://example.com/ada'
  const webhook = await admin.call<{ id: string; secret: string }>('POST', '/v1/preview/webhooks', { url })
  await admin.call('POST', `/v1/preview/webhooks/${webhook.id}/rotate-secret`)
  await admin.call('DELETE', `/v1/preview/webhooks/${webhook.id}`)
  const erasure = await admin.call<{ id: string }>('DELETE', '/v1/preview/projects/own')
  const acts = await listActs()
  expect(acts.map(shorten)).toEqual([
    { by: actor, action: 'key.made', subject: made.id, details: { role: 'read', expires_at: null } },
    { by: actor, action: 'key.rotated', subject: made.id, details: { replaced_by: rotated.id, overlap_seconds: 5 } },
    { by: actor, action: 'key.revoked', subject: rotated.id, details: {} },
    { by: actor, action: 'token_statistics.set', subject: null, details: { token_statistics: 'off' } },
    { by: actor, action: 'trace_retention.set', subject: 'own', details: { days: 9 } },
    { by: actor, action: 'webhook.made', subject: webhook.id, details: { project: null } },
    { by: actor, action: 'webhook.secret_rotated', subject: webhook.id, details: {} },
    { by: actor, action: 'webhook.deleted', subject: webhook.id, details: {} },
    { by: actor, action: 'erasure.requested', subject: erasure.id, details: { project: 'own' } },
  ])
  for (const secret of [made.key, webhook.secret, 'Ada', url]) expect(JSON.stringify(acts)).not.toContain(secret)
})

test("the administrator's commands are recorded too", async () => {
  const printed = await runCommand('key', entity, '--role', 'member')
  await runCommand('limits', entity, '--queued-jobs', '7', '--payload-days', '30')
  await runCommand('limits', entity)
  const acts = await listActs()
  expect(acts.map(shorten)).toEqual([
    { by: 'command', action: 'key.made', subject: expect.any(String), details: { role: 'member', expires_at: null } },
    { by: 'command', action: 'limits.set', subject: null, details: { queuedJobs: 7, payloadDays: 30 } },
  ])
  expect(JSON.stringify(acts)).not.toContain(printed.trim())
})

test('a repeated request is recorded once, and a rejected one is not recorded', async () => {
  const headers = { 'idempotency-key': 'once' }
  const make = () => post(`${own.server.url}/v1/preview/keys`, key, {}, { headers })
  await Promise.all([make(), make()])
  await make()
  expect((await admin.send('DELETE', `/v1/preview/keys/${actor}`)).status).toBe(409)
  expect((await listActs()).map(({ action }) => action)).toEqual(['key.made'])
})

test('admins of the entity read the log in pages, by action and by time; others cannot read it', async () => {
  for (const role of ['read', 'member', 'read']) await admin.call('POST', '/v1/preview/keys', { role })
  await admin.call('PUT', '/v1/preview/limits/token-statistics', { token_statistics: null })
  const acts = await listActs()
  const ids = async (query: string) =>
    (await admin.call<{ data: Act[] }>('GET', `${path}?${query}`)).data.map(({ id }) =>
      acts.findIndex((act) => act.id === id),
    )
  expect(await ids('')).toEqual([0, 1, 2, 3])
  expect(await ids(`order=desc&limit=2&after=${acts[3]!.id}`)).toEqual([2, 1])
  expect(await ids(`limit=1&after=${acts[0]!.id}`)).toEqual([1])
  expect(await ids('action=token_statistics.set')).toEqual([3])
  expect(await ids(`from=${acts[1]!.at}&to=${acts[3]!.at}`)).toEqual([1, 2])
  expect((await admin.send('GET', `${path}?action=key.lost`)).status).toBe(422)
  const stranger = await own.join(`other-${entity}`, 'admin')
  expect(await stranger.listAll(path)).toEqual([])
  expect((await stranger.send('GET', `${path}?after=${acts[0]!.id}`)).status).toBe(422)
  for (const role of ['member', 'read']) {
    const rest = await own.join(entity, role)
    expect((await rest.send('GET', path)).status).toBe(403)
  }
})

test('an act fails if it cannot be recorded, also in another database', async () => {
  const retention = '/v1/preview/projects/own/trace-retention'
  await admin.call('PUT', retention, { days: 9 })
  await own.database.pool.query(`
    CREATE FUNCTION auth.reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'disk full'; END $$;
    CREATE CONSTRAINT TRIGGER reject AFTER INSERT ON auth.audit_log DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION auth.reject()`)
  try {
    expect((await admin.send('PUT', retention, { days: 1 })).status).toBe(500)
  } finally {
    await own.database.pool.query('DROP FUNCTION auth.reject() CASCADE')
  }
  expect(await admin.call('GET', retention)).toEqual({ days: 9 })
  expect((await listActs()).map(({ details }) => details)).toEqual([{ days: 9 }])
})

test('an act that is rolled back leaves no entry, and entries cannot be changed or removed', async () => {
  const { pool } = own.database
  const act = { entity, actor, action: 'key.made', subject: randomUUID() } as const
  const undone = withTransaction(pool, async (connection) => {
    await recordAct(connection, act)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await listActs()).toEqual([])
  await withTransaction(pool, (connection) => recordAct(connection, act))
  for (const statement of [
    'DELETE FROM auth.audit_log',
    "UPDATE auth.audit_log SET actor = 'x'",
    'TRUNCATE auth.audit_log',
  ]) {
    await expect(pool.query(statement)).rejects.toThrow('never changed or removed')
  }
  expect(await listActs()).toHaveLength(1)
})
