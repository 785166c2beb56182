import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { prepareKeyCommand } from '../../apiserver/accounts/admin/key-command.ts'
import { prepareLimitsCommand } from '../../apiserver/accounts/admin/limits-command.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const model = 'traced'
const messages = [{ role: 'user', content: 'hi' }]
const own = useFakeEngine(stack, { model, answer: answerChat, count: 2 })
let entity: string
let key: string
let admin: Rest

interface Made {
  id: string
  key: string
  trace_project: string | null
}

interface Call {
  op_name: string
  inputs: { messages: unknown; model: string; stream?: boolean }
  output: { choices: { message: { content: string } }[] } | null
  exception: string | null
  summary: { usage: Record<string, Record<string, number>> }
}

async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream, prompt } = JSON.parse((await buffer(request)).toString()) as { stream?: boolean; prompt?: string }
  const common = { id: 'chat', created: 0, model }
  const usage = { prompt_tokens: 3, total_tokens: 5, completion_tokens: 2 }
  if (!stream) {
    const content = prompt === undefined ? { message: { role: 'assistant', content: 'Hello.' } } : { text: 'Hello.' }
    const choices = [{ index: 0, ...content, finish_reason: 'stop' }]
    const reply = Buffer.from(
      JSON.stringify({
        ...common,
        object: prompt === undefined ? 'chat.completion' : 'text_completion',
        choices,
        usage,
      }),
    )
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
    response.end(reply)
    return
  }
  const chunk = { ...common, object: 'chat.completion.chunk' }
  const pieceOf = (content: string) => (prompt === undefined ? { delta: { content } } : { text: content })
  const events = ['Hel', 'lo.'].map((content) => ({ ...chunk, choices: [{ index: 0, ...pieceOf(content) }] }))
  response.setHeader('content-type', 'text/event-stream')
  const last = { ...chunk, choices: [{ index: 0, ...pieceOf(''), finish_reason: 'stop' }] }
  for (const event of [...events, last, { ...chunk, choices: [], usage }])
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end('data: [DONE]\n\n')
}

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity)
  admin = createRest({ ...stack, url: own.server.url }, await addKey(own.database.pool, entity, 'admin'))
})

const send = (path: string, body: object, headers: Record<string, string> = {}, bearer = key, server = own.server) =>
  post(server.url + path, bearer, body, { headers })
const traced = () => ({ 'trainyard-trace': 'true', 'vendor-project': `${entity}/chats` })
const chat = (more: object = {}, headers: Record<string, string> = traced(), bearer = key) =>
  send('/v1/chat/completions', { model, messages, ...more }, headers, bearer)
const readCalls = async (project = 'chats') => {
  const response = await send('/traces/calls/stream_query', { project_id: `${entity}/${project}` })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Call)
}
const untilCalls = async (count: number, project?: string) => {
  let calls: Call[] = []
  await eventually(async () => {
    calls = await readCalls(project)
    expect(calls).toHaveLength(count)
  })
  return calls
}

test.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('a chat is recorded, and its answer does not change: %s', async (_, more) => {
  const untraced = await (await chat(more, {})).text()
  expect(await (await chat(more)).text()).toBe(untraced)
  const [call] = await untilCalls(1)
  expect(call).toMatchObject({
    op_name: 'openai.chat.completions.create',
    inputs: { model, messages, ...more },
    output: { choices: [{ message: { content: 'Hello.' } }] },
    exception: null,
    summary: { usage: { [model]: { requests: 1, prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } } },
  })
  expect(call!.inputs).not.toHaveProperty('cache_salt')
})

test('a server without the tracing group records chats too', async () => {
  const server = await own.start({ TRAINYARD_GROUPS: 'inference' })
  try {
    expect((await send('/v1/chat/completions', { model, messages }, traced(), key, server)).status).toBe(200)
    await untilCalls(1)
  } finally {
    await server.remove()
  }
})

test('a read-only key cannot record chats, and a chat with a base model needs a project', async () => {
  const reader = await addKey(own.database.pool, entity, 'read')
  expect((await chat({}, traced(), reader)).status).toBe(403)
  const warned = await chat({}, { 'trainyard-trace': 'true' })
  expect(warned.status).toBe(200)
  expect(warned.headers.get('trainyard-warning')).toContain('Trainyard-Trace needs the header Vendor-Project')
})

test('a chat that is too large is answered and not recorded; neither is one whose entity has no storage left', async () => {
  const large = [{ role: 'user', content: 'x'.repeat(1_100_000) }]
  expect((await chat({ messages: large })).status).toBe(200)
  const full = `full-${entity}`
  const fullKey = await addKey(own.database.pool, full)
  await own.database.pool.query('INSERT INTO auth.entities (entity, stored_bytes) VALUES ($1, 10)', [full])
  const headers = { ...traced(), 'vendor-project': `${full}/chats` }
  expect((await chat({}, headers, fullKey)).status).toBe(200)
  await chat()
  const [call] = await untilCalls(1)
  expect(call!.inputs.messages).toEqual(messages)
  const { rows } = await own.database.pool.query(
    `SELECT FROM tracing.calls JOIN tracing.projects ON project = number WHERE entity = $1`,
    [full],
  )
  expect(rows).toHaveLength(0)
})

describe('completions and responses are recorded too:', () => {
  const usage = { [model]: { requests: 1, prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }

  test.each([
    ['plain', {}],
    ['streamed', { stream: true }],
  ])('%s', async (_, more) => {
    const prompted = { model, prompt: 'hi', ...more }
    await (await send('/v1/completions', prompted, traced())).text()
    const asked = { model, input: 'hi', ...more }
    await (await send('/v1/responses', asked, traced())).text()
    const calls = new Map((await untilCalls(2)).map((call) => [call.op_name, call]))
    expect(calls.get('openai.completions.create')).toMatchObject({
      inputs: prompted,
      output: { object: 'text_completion', choices: [{ index: 0, text: 'Hello.', finish_reason: 'stop' }] },
      exception: null,
      summary: { usage },
    })
    expect(calls.get('openai.responses.create')).toMatchObject({
      inputs: asked,
      output: { object: 'response', status: 'completed', output: [{ content: [{ text: 'Hello.' }] }] },
      exception: null,
      summary: { usage },
    })
  })
})

/** Reads what each project has recorded of the entity, by the content of the chats. */
const readProjects = async (...projects: string[]) => {
  const said = async (project: string) => (await readCalls(project)).map(({ inputs }) => inputs.messages)
  return Object.fromEntries(
    await Promise.all(projects.map(async (project) => [project, (await said(project)).flat().map(readText)] as const)),
  )
}
const readText = (message: unknown) => (message as { content: string }).content

test('the header, the setting of the key and the setting of the entity, in this order, choose where chats are recorded', async () => {
  const made = await admin.call<Made>('POST', '/v1/preview/keys', { role: 'read' })
  const setOfEntity = (name: string | null) =>
    admin.call('PUT', '/v1/preview/limits/trace-project', { trace_project: name })
  const setOfKey = (name: string | null) =>
    admin.call<Made>('PUT', `/v1/preview/keys/${made.id}/trace-project`, { trace_project: name })
  // The other process answers as soon as the change is acknowledged.
  const say = async (content: string, headers: Record<string, string> = {}, bearer = made.key) => {
    const said = { model, messages: [{ role: 'user', content }] }
    return (await send('/v1/chat/completions', said, headers, bearer, own.servers[1])).status
  }
  const statuses = [await say('nothing is set')]
  await setOfEntity('ours')
  statuses.push(
    await say('entity'),
    await say('refused', traced()),
    await say('header off', { 'trainyard-trace': 'False' }),
  )
  expect(await setOfKey('mine')).toMatchObject({ id: made.id, trace_project: 'mine' })
  statuses.push(await say('key'), await say('charged elsewhere', { 'vendor-project': `${entity}/chats` }))
  await setOfKey('off')
  statuses.push(await say('key off'), await say('another key', {}, key))
  statuses.push(await say('header', traced(), key), await say('header alone', { 'trainyard-trace': 'true' }, key))
  await setOfKey(null)
  statuses.push(await say('entity again'))
  await setOfEntity(null)
  statuses.push(await say('none again'))
  expect(statuses).toEqual([200, 200, 403, ...Array<number>(9).fill(200)])
  await untilCalls(4, 'ours')
  await untilCalls(2, 'mine')
  await untilCalls(1)
  const recorded = await readProjects('ours', 'mine', 'chats')
  expect(recorded['ours']!.toSorted()).toEqual(['another key', 'entity', 'entity again', 'header alone'])
  expect(recorded['mine']!.toSorted()).toEqual(['charged elsewhere', 'key'])
  expect(recorded['chats']).toEqual(['header'])
})

test('a project with the name of the setting for none can be set', async () => {
  const made = await admin.call<Made>('POST', '/v1/preview/keys', { role: 'read', trace_project: 'project:off' })
  expect(made.trace_project).toBe('project:off')
  const said = { model, messages: [{ role: 'user', content: 'to the project off' }] }
  expect((await send('/v1/chat/completions', said, {}, made.key)).status).toBe(200)
  await untilCalls(1, 'off')
  expect(await readProjects('off')).toEqual({ off: ['to the project off'] })
})

test('commands set the project too, a rotated key keeps it, and invalid project names are rejected', async () => {
  const made = await admin.call<Made>('POST', '/v1/preview/keys', { trace_project: 'first' })
  const { pool } = own.database
  const { output } = await prepareLimitsCommand([entity, '--trace-project', 'ours'])(pool)
  expect(output).toMatch(/^trace-project +ours$/m)
  await prepareKeyCommand([entity, '--change', made.id, '--trace-project', 'second'])(pool)
  expect(await admin.call('GET', '/v1/preview/limits')).toMatchObject({ trace_project: 'ours' })
  expect(await admin.call('POST', `/v1/preview/keys/${made.id}/rotate`)).toMatchObject({ trace_project: 'second' })
  const untilSet = async (options: string[], shown: string | null) => {
    await prepareKeyCommand([entity, '--change', made.id, ...options])(pool)
    const { data } = await admin.call<{ data: Made[] }>('GET', '/v1/preview/keys')
    expect(data.find(({ id }) => id === made.id)?.trace_project).toBe(shown)
  }
  await untilSet(['--no-trace-project'], 'off')
  await untilSet(['--trace-project', 'off'], 'project:off')
  await untilSet(['--trace-project', 'default'], 'default')
  await untilSet(['--clear-trace-project'], null)
  await prepareLimitsCommand([entity, '--trace-project', 'default'])(pool)
  expect(await admin.call('GET', '/v1/preview/limits')).toMatchObject({ trace_project: 'default' })
  await prepareLimitsCommand([entity, '--no-trace-project'])(pool)
  expect(await admin.call('GET', '/v1/preview/limits')).toMatchObject({ trace_project: 'off' })
  const cleared = await prepareLimitsCommand([entity, '--clear-trace-project'])(pool)
  expect(cleared.output).toMatch(/^trace-project +off \(default\)$/m)
  for (const name of ['a/b', 'settings', '', 'project:on', 'xproject:off']) {
    const refused = { trace_project: name }
    expect((await admin.send('PUT', '/v1/preview/limits/trace-project', refused)).status).toBe(422)
    expect((await admin.send('PUT', `/v1/preview/keys/${made.id}/trace-project`, refused)).status).toBe(422)
    expect((await admin.send('POST', '/v1/preview/keys', refused)).status).toBe(422)
  }
  const acts = await admin.listAll<{ id: string; action: string; subject: string; details: object }>(
    '/v1/preview/audit-log',
  )
  expect(acts.map(({ action, subject, details }) => [action, subject, details])).toContainEqual([
    'trace_project.set',
    made.id,
    { trace_project: 'second' },
  ])
})

describe('while the database accepts no writes', () => {
  // The number of traces of an entity that may wait.
  const queued = 128

  /** Blocks every process from writing calls until the returned function is called. */
  const blockWrites = async () => {
    const blocker = await own.database.pool.connect()
    await blocker.query('BEGIN; LOCK TABLE tracing.calls IN ACCESS EXCLUSIVE MODE')
    let isBlocked = true
    return async () => {
      if (isBlocked) await blocker.query('ROLLBACK').finally(() => blocker.release())
      isBlocked = false
    }
  }

  test("waiting traces use no memory of the entity's chats", async () => {
    const unblock = await blockWrites()
    try {
      const large = [{ role: 'user', content: 'x'.repeat(900_000) }]
      const statuses = new Set<number>()
      for (let times = 0; times < 30; times++) statuses.add((await chat({ messages: large })).status)
      expect([...statuses]).toEqual([200])
    } finally {
      await unblock()
    }
  })

  test('each entity has its own bounded queue of traces; SIGTERM waits for them, and the log counts dropped ones', async () => {
    const log = join(tmpdir(), `${own.namespace}.log`)
    const server = await own.start({ LOG_LEVEL: 'warn' }, (command) => [
      'sh',
      '-c',
      `exec ${command.map((word) => `'${word}'`).join(' ')} > '${log}'`,
    ])
    const unblock = await blockWrites()
    try {
      const others = `other-${entity}`
      const otherKey = await addKey(own.database.pool, others)
      const ask = async (headers: Record<string, string>, bearer: string) => {
        const response = await send('/v1/chat/completions', { model, messages }, headers, bearer, server)
        await response.text()
        return response.status
      }
      const flood = await Promise.all(Array.from({ length: queued + 22 }, () => ask(traced(), key)))
      expect(new Set(flood)).toEqual(new Set([200]))
      expect(await ask({ ...traced(), 'vendor-project': `${others}/chats` }, otherKey)).toBe(200)
      const exited = server.stop()
      await delay(500)
      await unblock()
      expect(await exited).toBe(0)
      const { rows } = await own.database.pool.query<{ entity: string; calls: number }>(
        `SELECT entity, count(*) AS calls FROM tracing.calls JOIN tracing.projects ON project = number
         WHERE entity = ANY ($1) GROUP BY entity ORDER BY entity`,
        [[entity, others]],
      )
      expect(rows).toEqual([
        { entity: others, calls: 1 },
        { entity, calls: queued },
      ])
      const reported = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes('chats not traced'))
      expect(reported.map((line) => (JSON.parse(line) as { dropped: number }).dropped)).toEqual([22])
    } finally {
      await unblock()
      await server.remove()
      await rm(log, { force: true })
    }
  })
})
