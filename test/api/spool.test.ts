import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request, type ClientRequest } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { useServices } from '../support/services.ts'

const stack = useServices()
const limitBytes = 256 * 1024 * 1024
const mib = 1024 * 1024

let artifacts: string
const database = useTestDatabase()
let server: ServedApi
let headers: Record<string, string>
beforeAll(async () => {
  // This store is separate: other tests kill processes, whose bodies stay in their store.
  artifacts = await mkdtemp(path.join(tmpdir(), 'spool-'))
  server = await serveApi({ ...stack, artifacts }, database.databaseUrl)
  headers = { authorization: `Bearer ${await addKey(database.pool, 'team')}`, 'content-type': 'application/json' }
})
afterAll(async () => {
  await server?.remove()
  await rm(artifacts, { recursive: true, force: true })
})

const listSpool = () => readdir(path.join(artifacts, '.spool')).catch(() => [])
const expectNothingLeft = () => eventually(async () => expect(await listSpool()).toEqual([]))
beforeEach(expectNothingLeft)

/** A request whose body is not complete. */
function open(): ClientRequest {
  const sent = request(`${server.url}/v1/preview/training-jobs`, { method: 'POST', headers })
  return sent.on('error', () => {})
}

test.each([
  ['small', 0],
  ['large', 8 * mib],
])('an invalid body leaves no file behind: %s', async (_size, spaces) => {
  const body = `{"trajectory_groups":[${' '.repeat(spaces)}"group"]}`
  const response = await fetch(`${server.url}/v1/preview/training-jobs`, { method: 'POST', headers, body })
  expect(response.status).toBe(422)
  await expectNothingLeft()
})

test('a body is cut off when it becomes too large, and leaves no file behind', async () => {
  const chunk = Buffer.alloc(4 * mib, ' ')
  const { promise, resolve } = Promise.withResolvers<{ status: number | undefined; text: string }>()
  const sent = open().once('response', (response) =>
    response.setEncoding('utf8').once('data', (text: string) => {
      resolve({ status: response.statusCode, text })
      sent.destroy()
    }),
  )
  const write = () => {
    while (!sent.destroyed && sent.write(chunk));
    if (!sent.destroyed) sent.once('drain', write)
  }
  write()
  expect(await promise).toEqual({ status: 413, text: `{"detail":"The body is larger than ${limitBytes} bytes."}` })
  await expectNothingLeft()
})

test('a client that leaves leaves no file behind', async () => {
  const sent = open()
  sent.write(Buffer.alloc(mib, ' '))
  await eventually(async () => expect(await listSpool()).toHaveLength(1))
  sent.destroy()
  await expectNothingLeft()
})
