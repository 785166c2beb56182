import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

// Fifteen of the connections are for streams, five of them for one entity.
const own = useApiServer({ LOG_LEVEL: 'error', TRAINYARD_TRACING_CONNECTIONS: '20' })
const entities = ['first', 'second', 'third', 'fourth']
const keys = new Map<string, string>()
const clients = new Map<string, TraceClient>()

// More data than the buffers of a connection hold.
const calls = 120
const payload = 'x'.repeat(200 * 1024)

beforeAll(async () => {
  for (const entity of entities) {
    const key = await addKey(own.database.pool, entity)
    keys.set(entity, key)
    clients.set(entity, createTraceClient(own.server.url, key))
    for (let from = 0; from < calls; from += 60) await write(entity, 'large', { from, to: from + 60 })
  }
})

function write(entity: string, name: string, { from, to }: { from: number; to: number }) {
  const project_id = `${entity}/${name}`
  const at = '2026-11-21T10:00:00Z'
  const batch = Array.from({ length: to - from }, (_, index) => ({
    project_id,
    id: `${name}-${from + index}`,
    trace_id: 't',
    op_name: 'op',
    started_at: at,
    ended_at: at,
    attributes: {},
    inputs: { payload },
    output: null,
    summary: {},
  }))
  return clients.get(entity)!.call(`/v2/${project_id}/calls/complete`, { batch })
}

/** Requests all calls, and reads nothing of the response. */
async function readSlowly(entity: string): Promise<IncomingMessage> {
  const asked = request(`${own.server.url}/calls/stream_query`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${keys.get(entity)!}`, 'content-type': 'application/json' },
  })
  asked.on('error', () => {})
  asked.end(JSON.stringify({ project_id: `${entity}/large` }))
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  onTestFinished(() => void response.destroy())
  return response
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('slow readers do not block writers', async () => {
  const answers = await Promise.all(entities.flatMap((entity) => Array.from({ length: 5 }, () => readSlowly(entity))))
  const refused = answers.filter(({ statusCode }) => statusCode !== 200)
  expect(refused.map(({ statusCode, headers }) => [statusCode, headers['retry-after']])).toEqual(
    Array.from({ length: 5 }, () => [429, '1']),
  )
  expect(JSON.parse(await readText(refused[0]!))).toEqual({
    reason: expect.stringContaining('Send this request again') as string,
  })

  for (const entity of entities) await write(entity, 'new', { from: 0, to: 1 })
  const read = { project_id: 'first/new', id: 'new-0' }
  expect(await clients.get('first')!.call('/call/read', read)).toMatchObject({ call: { id: 'new-0' } })
})

test('an entity has a share of the streams, and gets another when one has ended', async () => {
  const [first] = await Promise.all(Array.from({ length: 5 }, () => readSlowly('first')))
  const next = readSlowly('first')
  expect((await readSlowly('second')).statusCode).toBe(200)
  first!.destroy()
  const answer = await next
  expect(answer.statusCode).toBe(200)
  expect((await readText(answer)).trim().split('\n')).toHaveLength(calls)
})
