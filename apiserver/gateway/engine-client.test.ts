import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../lib/log.ts'
import { EngineClient } from './engine-client.ts'

const address = '127.77.3.1'
let engine: Server
const client = new EngineClient(
  { listReady: async () => [{ name: 'engine', ip: address }] },
  'the key',
  createLogger('test', 'silent'),
)

beforeAll(async () => {
  engine = createServer((request, reply) => reply.end(JSON.stringify(request.headers))).listen(8000, address)
  await once(engine, 'listening')
})
afterAll(async () => {
  await client.close()
  engine.close()
})

async function sendOf(key: string): Promise<Record<string, string>> {
  const response = await client.post({
    baseModelCrName: 'tiny',
    turn: { key, weight: 2.5 },
    path: '/v1/chat/completions',
    body: Buffer.from('{}'),
    signal: new AbortController().signal,
  })
  return (await response.body.json()) as Record<string, string>
}

test('an engine sees whether two requests are of one entity and its weight, and not of which', async () => {
  const [one, again, other] = [await sendOf('acme'), await sendOf('acme'), await sendOf('globex')]
  expect(one['x-trainyard-tenant']).toMatch(/^[0-9a-f]{32}$/)
  expect(again['x-trainyard-tenant']).toBe(one['x-trainyard-tenant'])
  expect(other['x-trainyard-tenant']).not.toBe(one['x-trainyard-tenant'])
  expect(one['x-trainyard-weight']).toBe('2.5')
  expect(one['authorization']).toBe('Bearer the key')
})
