import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { useServices } from '../support/services.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const stack = useServices()
const own = useApiServer({ TRAINYARD_UPLOAD_LIMIT_BYTES: String(3 * 1024 * 1024) })
let key: string
let client: TraceClient
let project_id: string

beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
  client = createTraceClient(own.server.url, key)
})
beforeEach(() => {
  project_id = `team/${randomUUID()}`
})

const digestOf = (bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
const refusal = (status: number, reason: RegExp | string) => ({
  status,
  body: { reason: typeof reason === 'string' ? reason : (expect.stringMatching(reason) as string) },
})

function formOf(bytes: Uint8Array<ArrayBuffer>, more: Record<string, string> = {}): FormData {
  const form = new FormData()
  form.append('project_id', project_id)
  form.append('file', new Blob([bytes]))
  for (const [name, value] of Object.entries(more)) form.append(name, value)
  return form
}

const keep = (bytes: Uint8Array<ArrayBuffer>, more?: Record<string, string>) =>
  client.post('/file/create', formOf(bytes, more))
const readFile = async (digest: string) => {
  const response = await client.send('POST', '/file/content', { project_id, digest })
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  return Buffer.from(await response.arrayBuffer())
}

/** Sends a body unchanged, with this content type. */
async function sendForm(body: string, type = 'multipart/form-data; boundary=B') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  const response = await fetch(`${own.server.url}/file/create`, { method: 'POST', headers, body })
  return { status: response.status, body: await response.json() }
}
const part = (name: string, text: string, more = '') =>
  `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`

describe('a file', () => {
  test.each([0, 1, 1_000, 256 * 1024, 256 * 1024 + 1, 2_500_000])('of %i bytes is read unchanged', async (size) => {
    const bytes = randomBytes(size)
    expect(await keep(bytes)).toEqual({ status: 200, body: { digest: digestOf(bytes) } })
    expect(Buffer.compare(await readFile(digestOf(bytes)), bytes)).toBe(0)
  })

  test('is stored once for each project, and the bytes of projects are counted', async () => {
    const [small, large] = [randomBytes(10), randomBytes(400_000)]
    for (const bytes of [small, large, small, large]) await keep(bytes)
    await Promise.all(Array.from({ length: 8 }, () => keep(large)))
    for (const address of ['/files/query_stats', '/files/stats'])
      expect(await client.call(address, { project_id })).toEqual({ total_size_bytes: 400_010 })
    expect(await client.call('/files/query_stats', { project_id: 'team/none' })).toEqual({ total_size_bytes: 0 })
  })

  test('is only in the artifact store if it is large', async () => {
    const bytes = randomBytes(300_000)
    await keep(bytes)
    await keep(bytes)
    const { rows } = await own.database.pool.query<{ key: string }>(
      `SELECT artifact_key AS key FROM tracing.files WHERE digest = $1`,
      [digestOf(bytes)],
    )
    const hex = createHash('sha256').update(bytes).digest('hex')
    expect(rows).toEqual([{ key: expect.stringMatching(new RegExp(`^traces/team/\\d+/files/${hex}$`)) as string }])
    const folder = new URL(stack.artifacts.replace(/^(?!file:)/, 'file://')).pathname
    if (existsSync(folder)) {
      const names = await readdir(folder, { recursive: true })
      expect(names.filter((name) => path.basename(name) === hex)).toHaveLength(1)
    }
  })

  test('can have the digest of older clients', async () => {
    const bytes = randomBytes(100)
    expect((await client.post('/files/create', formOf(bytes))).status).toBe(200)
    const response = await client.send('POST', '/traces/files/content', { project_id, digest: digestOf(bytes) })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
  })

  test('is rejected when the client has computed another digest', async () => {
    const bytes = randomBytes(300_000)
    expect(await keep(bytes, { expected_digest: 'x' })).toEqual(refusal(409, /digest/))
    expect(await client.post('/file/content', { project_id, digest: digestOf(bytes) })).toMatchObject({ status: 404 })
    expect((await keep(bytes, { expected_digest: digestOf(bytes) })).status).toBe(200)
  })

  test('that is too large is rejected', async () => {
    expect(await keep(randomBytes(3_200_000))).toEqual(refusal(413, 'Request too large'))
  })

  test('with an unknown digest is a 404', async () => {
    for (const digest of ['x', '', "'", 'x'.repeat(10_000)]) {
      expect(await client.post('/file/content', { project_id, digest })).toEqual(refusal(404, /^File .* not found$/))
    }
  })
})

describe('a form', () => {
  test.each<[string, () => string]>([
    [
      'with its fields behind the file',
      () => `${part('file', 'abc', '; filename="a"')}${part('project_id', project_id)}--B--\r\n`,
    ],
    ['with a file that has no name', () => `${part('project_id', project_id)}${part('file', 'abc')}--B--\r\n`],
    [
      'with unknown fields',
      () =>
        `${part('more', 'x')}${part('project_id', project_id)}${part('other', 'x', '; filename="b"')}${part('file', 'abc', '; filename="a"')}--B--\r\n`,
    ],
  ])('%s is accepted', async (_, body) => {
    expect(await sendForm(body())).toEqual({ status: 200, body: { digest: digestOf(Buffer.from('abc')) } })
    expect((await readFile(digestOf(Buffer.from('abc')))).toString()).toBe('abc')
  })

  test.each<[string, () => string, string?]>([
    ['without a file', () => `${part('project_id', project_id)}--B--\r\n`],
    ['without a project', () => `${part('file', 'abc', '; filename="a"')}--B--\r\n`],
    ['without anything', () => '--B--\r\n'],
    ['that is empty', () => ''],
    ['that ends too early', () => part('file', 'abc', '; filename="a"')],
    ['that ends in a large file', () => part('file', 'x'.repeat(400_000), '; filename="a"')],
    [
      'with two files',
      () =>
        `${part('file', 'a', '; filename="a"')}${part('file', 'b', '; filename="b"')}${part('project_id', project_id)}--B--\r\n`,
    ],
    ['with a field that never ends', () => `${part('project_id', 'x'.repeat(10_000))}${part('file', 'a')}--B--\r\n`],
    [
      'with too many fields',
      () => `${part('a', 'b').repeat(200)}${part('file', 'a')}${part('project_id', project_id)}--B--\r\n`,
    ],
    ['without a boundary', () => 'x', 'multipart/form-data'],
    ['of another type', () => '{}', 'application/json'],
  ])('%s is rejected', async (_, body, type) => {
    const answer = await sendForm(body(), type)
    expect(answer).toEqual({ status: 422, body: { detail: expect.any(Array) as unknown[] } })
  })

  test('of an invalid project is rejected', async () => {
    for (const [name, status] of [
      ['team', 400],
      ['team/a/b', 400],
      ['team/a\0', 400],
      ['others/p', 403],
    ] as const) {
      const answer = await sendForm(`${part('project_id', name)}${part('file', 'abc', '; filename="a"')}--B--\r\n`)
      expect(answer).toEqual(refusal(status, /./))
    }
  })

  test.each([
    ['a file of another name', part('other', 'abc', '; filename="a"')],
    ['a second file', part('file', 'abc', '; filename="a"') + part('file', 'abc', '; filename="b"')],
    ['the file', part('file', 'abc', '; filename="a"')],
    ['a field', part('expected_digest', 'abc')],
  ])('whose end is missing in %s is rejected, and the next one accepted', async (_, parts) => {
    expect((await sendForm(part('project_id', project_id) + parts)).status).toBe(422)
    expect((await keep(randomBytes(10))).status).toBe(200)
  })

  test('leaves the connection of a rejected one open for the next request', async () => {
    const { hostname, port } = new URL(own.server.url)
    const socket = connect(Number(port), hostname)
    const answers: string[] = []
    socket.on('data', (chunk) => answers.push(chunk.toString()))
    const form = `${part('file', 'a', '; filename="a"')}${part('file', 'b', '; filename="b"')}--B--\r\n`
    const head = `POST /file/create HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=B\r\n`
    socket.write(`${head}Content-Length: ${form.length}\r\n\r\n${form}`)
    // Longer than the time after which a client that does not read is disconnected.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await once(socket, 'close')
    expect(answers.join('').match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 422', 'HTTP/1.1 200'])
  })

  test('that is cut off by its client uses no memory', async () => {
    const { hostname, port } = new URL(own.server.url)
    const head = `POST /file/create HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 2000000\r\n\r\n`
    for (const size of [10, 1_000_000]) {
      const socket = connect(Number(port), hostname)
      socket.write(head + part('file', 'x'.repeat(size), '; filename="a"'))
      await new Promise((resolve) => setTimeout(resolve, 100))
      socket.destroy()
    }
    expect((await keep(randomBytes(10))).status).toBe(200)
  })
})

test('other entities see no files of a project', async () => {
  const bytes = randomBytes(20)
  await keep(bytes)
  const stranger = createTraceClient(own.server.url, await addKey(own.database.pool, 'others'))
  const digest = digestOf(bytes)
  expect(await stranger.post('/file/content', { project_id, digest })).toEqual(refusal(403, /./))
  expect(await stranger.post('/files/query_stats', { project_id })).toEqual(refusal(403, /./))
  expect(await stranger.post('/file/create', formOf(bytes))).toEqual(refusal(403, /./))
  expect(await stranger.post('/file/content', { project_id: 'others/p', digest })).toEqual(refusal(404, /not found/))
  const reader = createTraceClient(own.server.url, await addKey(own.database.pool, 'team', 'read'))
  expect((await reader.post('/file/create', formOf(bytes))).status).toBe(403)
  expect((await reader.send('POST', '/file/content', { project_id, digest })).status).toBe(200)
})
