import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { makeThings, type Things } from './own-things.ts'
import { listOperations, type DocumentedOperation } from '../support/operations.ts'
import { useStack } from '../support/stack.ts'

// Every operation of the OpenAPI document is called with its own key, another entity's key, unknown ids, no key, and a
// revoked key. A new operation needs no change here, unless it has a parameter or body of a new kind.

const stack = useStack()
const operations = await listOperations()
// A project name belongs to the key's own entity.
const ownNames = new Set([
  '/v1/preview/projects/{project}',
  '/v1/preview/projects/{project}/trace-retention',
  '/v1/preview/projects/{project}/calls/statistics',
  '/v1/preview/projects/{project}/calls/to-dataset',
])
const withIds = operations.filter(({ path }) => path.includes('{') && !ownNames.has(path))

let pool: Pool
let own: { key: string; entity: string }
let other: { key: string; entity: string }
let revoked: { key: string; entity: string }
let things: Things

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  const makeKey = async () => {
    const made = { key: `ty_${randomBytes(32).toString('hex')}`, entity: `team-${randomUUID()}` }
    const digest = createHash('sha256').update(made.key).digest()
    await pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [made.entity, digest])
    return made
  }
  own = await makeKey()
  other = await makeKey()
  revoked = await makeKey()
  const digest = createHash('sha256').update(revoked.key).digest()
  await pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE digest = $1', [digest])
  things = await makeThings(stack, pool, own)
})
afterAll(() => pool.end())

/** Calls an operation. `idsOf` returns the values of its path parameters. */
async function send({ method, path }: DocumentedOperation, key: string | undefined, given: Record<string, string>) {
  const ids: Record<string, string> = path.includes('/artifacts/') ? { ...given, path: 'train.jsonl' } : given
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (ids[name] === undefined) throw new Error(`own-things.ts makes nothing for the parameter ${name}`)
    return encodeURIComponent(ids[name])
  })
  const body = things.bodyOf(method, path)
  const response = await fetch(stack.url + filled + things.queryOf(path), {
    method: method.toUpperCase(),
    headers: { ...(key && { authorization: `Bearer ${key}` }), ...(body && { 'content-type': body.type }) },
    ...(body && { body: body.content }),
    signal: AbortSignal.timeout(20_000),
  })
  return { status: response.status, text: await response.text() }
}

/** Removes the sent ids from an answer, which may name them. */
function withoutIds({ status, text }: { status: number; text: string }, ids: Record<string, string>) {
  const long = Object.values(ids).filter((id) => id.length > 8)
  return { status, text: long.reduce((rest, id) => rest.replaceAll(id, 'ID'), text) }
}

const name = ({ method, path }: DocumentedOperation) => `${method.toUpperCase()} ${path}`

describe('without a key, and with one that is revoked', () => {
  test.each(operations.map((each) => [name(each), each] as const))('%s is 401', async (_, operation) => {
    const answers = [await send(operation, undefined, things.ids), await send(operation, revoked.key, things.ids)]
    expect(answers.map(({ status }) => status)).toEqual([401, 401])
    // The answer does not show which keys exist: a revoked key looks like one that never existed.
    const wrong = await send(operation, 'ty_none', things.ids)
    expect(answers[1]).toEqual(wrong)
  })
})

describe("another entity's things and unknown ones get the same answer", () => {
  test.each(withIds.map((each) => [name(each), each] as const))('%s', async (_, operation) => {
    const foreign = await send(operation, other.key, things.ids)
    const unknownIds = things.unknownIds()
    const unknown = await send(operation, other.key, unknownIds)
    expect(withoutIds(foreign, things.ids)).toEqual(withoutIds(unknown, unknownIds))
    expect([403, 404]).toContain(foreign.status)
    // Only an entity may be rejected as another's: the answer only depends on the name, not on whether the entity
    // exists.
    if (foreign.status === 403) expect(operation.path).toContain('{entity}')
  })
})

test('the answers take about the same time', async () => {
  const operation = { method: 'get', path: '/v1/preview/models/{model_id}/checkpoints' }
  const measure = async (ids: Record<string, string>) => {
    const startedAt = performance.now()
    await send(operation, other.key, ids)
    return performance.now() - startedAt
  }
  const times: { foreign: number[]; unknown: number[] } = { foreign: [], unknown: [] }
  for (let round = 0; round < 60; round++) {
    times.foreign.push(await measure(things.ids))
    times.unknown.push(await measure(things.unknownIds()))
  }
  const [foreign, unknown] = [times.foreign, times.unknown].map((each) => each.toSorted((a, b) => a - b)[30]!)
  // The noise of a busy machine is smaller. An additional or missing query is larger.
  expect(foreign! / unknown!).toBeGreaterThan(0.6)
  expect(foreign! / unknown!).toBeLessThan(1.6)
})

test("lists hold nothing of another entity's", async () => {
  const lists = operations.filter(({ method, path }) => method === 'get' && !path.includes('{'))
  for (const operation of lists) {
    const { text } = await send(operation, other.key, {})
    for (const id of Object.values(things.ids).filter((value) => value.length === 36)) {
      expect([name(operation), text.includes(id)]).toEqual([name(operation), false])
    }
  }
})

test('a caller finds and changes its own data', async () => {
  const order = ['get', 'post', 'put', 'delete']
  const depth = ({ path }: DocumentedOperation) => (ownNames.has(path) ? 0 : path.length)
  const sorted = operations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method) || depth(b) - depth(a))
  const refused: string[] = []
  for (const operation of sorted.filter(({ path }) => !things.isElsewhere(path))) {
    const { status, text } = await send(operation, own.key, things.ids)
    if (status >= 400 && status !== 409) refused.push(`${name(operation)}: ${status} ${text.slice(0, 200)}`)
  }
  expect(refused).toEqual([])
})
