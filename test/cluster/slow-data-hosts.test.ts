import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { closeWithConnections, openLocally } from '../support/local-server.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const row = JSON.stringify({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ],
})
/** Responses that get a byte now and then, and do not end. */
const slow = new Set<ServerResponse>()
const server = createServer((request, response) => {
  if (request.url === '/slow') {
    slow.add(response)
    response.on('close', () => slow.delete(response))
  } else {
    response.end(`${row}\n`)
  }
})
const drip = setInterval(() => {
  for (const response of slow) response.write(' ')
}, 100)
let pool: Pool
let origin: string

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  origin = `http://127.0.0.1:${await openLocally(server)}`
})
afterAll(async () => {
  clearInterval(drip)
  await closeWithConnections(server)
  await pool.end()
})

async function addJobs(path: string, count: number): Promise<{ rest: Rest; jobs: string[] }> {
  const rest = createRest(stack, await addKey(pool, `team-${randomUUID()}`))
  const { id: model_id } = await rest.createModel()
  const jobs: string[] = []
  for (let left = count; left > 0; left--) {
    const body = { model_id, training_data_url: `${origin}${path}` }
    jobs.push((await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', body)).id)
  }
  return { rest, jobs }
}

test("an entity whose data hosts never end their responses delays no other entity's data", async () => {
  const hostile = await addJobs('/slow', 40)
  await eventually(() => expect(slow.size).toBeGreaterThan(1))
  const other = await addJobs('/', 2)
  await eventually(async () => {
    for (const id of other.jobs) {
      const { state } = await other.rest.call<{ state: string }>('GET', `/v1/preview/training-jobs/${id}`)
      expect(state).not.toBe('Pending')
    }
  }, 20_000)
  expect(slow.size).toBe(2)
  for (const id of hostile.jobs) await hostile.rest.call('POST', `/v1/preview/training-jobs/${id}/cancel`)
})
