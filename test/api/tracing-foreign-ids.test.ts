import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { askOf, makeTraces, unknownTraces, type Asked, type Traces } from '../support/own-traces.ts'
import { createTraceClient } from '../support/trace-client.ts'
import { listTraceOperations, type TraceOperation } from '../support/trace-operations.ts'
import { basic } from '../support/post.ts'

// Every operation of the tracing group's document is called without a key, with a revoked key, with another entity's
// key, with a read-only key, and with unknown ids. A new operation needs no change here, unless it has a body of a new
// kind (test/support/own-traces.ts) or its own answer for missing things.

const operations = await listTraceOperations()
const own = useApiServer({ LOG_LEVEL: 'error' })

const project = 'team/project'
const mark = `mark${newId().replaceAll('-', '')}`
const keys = {} as Record<'member' | 'reader' | 'other' | 'revoked', string>
let things: Traces

beforeAll(async () => {
  const { pool } = own.database
  keys.member = await addKey(pool, 'team')
  keys.reader = await addKey(pool, 'team', 'read')
  keys.other = await addKey(pool, 'others')
  keys.revoked = await addKey(pool, 'team')
  const digest = createHash('sha256').update(keys.revoked).digest()
  await pool.query('UPDATE auth.api_keys SET revoked_at = now() WHERE digest = $1', [digest])
  things = await makeTraces(createTraceClient(own.server.url, keys.member), project, mark)
})

interface Answer {
  status: number
  text: string
}

async function send({ method, path, body, headers }: Asked, key: string | undefined): Promise<Answer> {
  const isForm = body instanceof FormData
  const response = await fetch(own.server.url + path, {
    method,
    headers: {
      ...(key && basic(key)),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  return { status: response.status, text: await response.text() }
}

const name = ({ method, path }: TraceOperation) => `${method} ${path}`
const each = (list: TraceOperation[]) => list.map((operation) => [name(operation), operation] as const)
const reason = (text: RegExp) => ({ reason: expect.stringMatching(text) as string })
const valueOf = ({ status, text }: Answer) => ({ status, body: JSON.parse(text || 'null') as unknown })

// These name no project, or accept any list of projects.
const ofNoProject = new Set(['/server_info', '/service/projects_info'])
const ofProjects = operations.filter(({ path }) => !ofNoProject.has(path))

describe('without a key, and with one that is revoked', () => {
  test.each(each(operations))('%s is 401', async (_, operation) => {
    const asked = askOf(operation, things)
    const mounted = { ...asked, path: `/traces${asked.path}` }
    const answers = [await send(asked, undefined), await send(asked, keys.revoked), await send(mounted, keys.revoked)]
    expect(valueOf(answers[0]!)).toEqual({ status: 401, body: reason(/has no API key/) })
    expect(valueOf(answers[1]!)).toEqual({ status: 401, body: reason(/unknown, revoked or expired/) })
    expect(answers[2]).toEqual(answers[1])
  })
})

describe("another entity's project gets the same answer, whether it exists or not", () => {
  const unknown = () => unknownTraces(`team/${newId()}`)

  test.each(each(ofProjects))('%s', async (_, operation) => {
    const answers = [
      await send(askOf(operation, things), keys.other),
      await send(askOf(operation, unknown()), keys.other),
    ]
    expect(answers[1]).toEqual(answers[0])
    const { status, body } = valueOf(answers[0]!)
    const refusal = reason(/does not belong to the entity/)
    expect({ status, body }).toEqual({ status: 403, body: refusal })
  })

  test('a list of projects leaves it out', async () => {
    const asked = { method: 'POST', path: '/service/projects_info', body: { project_ids: [project, 'team/none'] } }
    expect(valueOf(await send(asked, keys.other))).toEqual({ status: 200, body: [] })
  })
})

// Operations that change nothing, by name. The document does not contain the role.
const readNames =
  /(\/(read|read_batch|query|query_stats|query_stats_batch|\w+_query|query_stream|content|stats|\w+_info))$/
const isRead = ({ method, path }: TraceOperation) =>
  method === 'GET' || readNames.test(path) || path.startsWith('/completions')

describe('a key that may only read', () => {
  test.each(each(operations.filter((operation) => !isRead(operation))))('is rejected %s', async (_, operation) => {
    const answer = await send(askOf(operation, things), keys.reader)
    expect(valueOf(answer)).toEqual({ status: 403, body: reason(/role/) })
  })

  test.each(each(operations.filter(isRead)))('gets the same answer %s as its owner', async (_, operation) => {
    const asked = askOf(operation, things)
    const answer = await send(asked, keys.reader)
    expect(answer.status).toBe(200)
    expect(answer).toEqual(await send(asked, keys.member))
  })

  test('cannot record a chat', async () => {
    const body = { project_id: project, inputs: { model: 'm', messages: [] } }
    for (const path of ['/completions/create', '/completions/create_stream']) {
      expect(valueOf(await send({ method: 'POST', path, body }, keys.reader))).toEqual({
        status: 403,
        body: reason(/role/),
      })
    }
  })
})

// The answers for unknown names. Writes that create something are left out.
const nothing: Record<string, unknown> = {
  '/calls/stream_query': '',
  '/calls/query': { calls: [] },
  '/calls/query_stats': { count: 0, total_storage_size_bytes: 0 },
  '/call/read': { call: null },
  '/call/update': {},
  '/calls/delete': { num_deleted: 0 },
  '/obj/read': 404,
  '/objs/query': { objs: [] },
  '/obj/delete': 404,
  '/objs/{object_id}/versions/{digest}/tags': 404,
  '/objs/{object_id}/versions/{digest}/tags/remove': 404,
  '/objs/{object_id}/aliases': 404,
  '/objs/{object_id}/aliases/remove': {},
  '/table/update': 404,
  '/table/query': { rows: [] },
  '/table/query_stream': '',
  '/table/query_stats': { count: 0 },
  '/table/query_stats_batch': { tables: [] },
  '/file/content': 404,
  '/files/content': 404,
  '/refs/read_batch': 404,
  '/feedback/purge': {},
  '/cost/purge': {},
  '/threads/stream_query': '',
}
const nothingInProject: Record<string, unknown> = {
  ...nothing,
  '/tags': { tags: [] },
  '/aliases': { aliases: [] },
  '/files/query_stats': { total_size_bytes: 0 },
  '/files/stats': { total_size_bytes: 0 },
  '/feedback/query': { result: [] },
  '/cost/query': { results: [] },
  '/project/stats': {
    trace_storage_size_bytes: 0,
    objects_storage_size_bytes: 0,
    tables_storage_size_bytes: 0,
    files_storage_size_bytes: 0,
  },
  '/service/projects_info': [],
}

describe('unknown things', () => {
  test.each([
    ['in a project', project, nothing],
    ['outside of projects', 'team/none', nothingInProject],
  ])('%s', async (_, project_id, expected) => {
    // Reads come first: a call may be renamed before it exists, and that creates the project.
    const asked = [...operations.filter(isRead), ...operations.filter((operation) => !isRead(operation))].filter(
      ({ path }) => Object.hasOwn(expected, path),
    )
    expect(asked.length).toBeGreaterThanOrEqual(Object.keys(expected).length)
    for (const operation of asked) {
      const { status, text } = await send(askOf(operation, unknownTraces(project_id)), keys.member)
      const body = expected[operation.path]
      const answer = body === '' ? text.trim() : (JSON.parse(text) as unknown)
      const wanted = body === 404 ? [404, reason(/not found/)] : [200, body]
      expect([name(operation), status, answer]).toEqual([name(operation), ...wanted])
    }
  })

  test.each(each(operations))('%s causes no server error', async (_, operation) => {
    const { status } = await send(askOf(operation, unknownTraces('team/other')), keys.member)
    expect([200, 404]).toContain(status)
  })
})
