import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

interface Artifact {
  id: string
  version: string
  address: string
  digest: string
  size: number
  files: { path: string; digest: string; size: number }[]
  metadata: Record<string, unknown>
}

const stack = await useOwnStack()
let rest: Rest
let entity: string

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const row = (text: string) => `${JSON.stringify({ messages: [{ role: 'assistant', content: text }] })}\n`
const newName = () => `data-${randomUUID()}`
const pathOf = (name: string, more = '') => `/v1/preview/artifacts/${entity}/tests/${name}${more}`

beforeAll(async () => {
  rest = createRest(stack)
  entity = (await rest.createModel()).entity
})

/** Sends a request with these bytes. */
async function send(method: string, path: string, body?: RequestInit['body'], headers: Record<string, string> = {}) {
  const authorization = `Bearer ${stack.apiKey}`
  const init = { method, headers: { authorization, ...headers }, ...(body !== undefined && { body, duplex: 'half' }) }
  return fetch(stack.url + path, init as RequestInit)
}

/** Uploads this body. */
async function put(path: string, body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Artifact> {
  const response = await send('PUT', `${path}${path.includes('?') ? '&' : '?'}check=none`, body, headers)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Artifact
}

const getText = async (path: string) => (await send('GET', path)).text()

describe('SFT data are checked at their upload', () => {
  const bad = `${row('a')}{"prompt":"a","completion":"b"}\nhello\n`
  const reasons = async (response: Response) => {
    const { detail } = (await response.json()) as { detail: { msg: string }[] }
    return [response.status, detail.map(({ msg }) => msg.replace(/: each line is .*/, ''))]
  }
  const reported = [
    'Value error, train.jsonl, line 2 has no messages',
    'Value error, train.jsonl, line 3 is not valid JSON at byte 0, after "": a value is missing',
  ]

  test('as one body', async () => {
    const name = newName()
    expect(await reasons(await send('PUT', pathOf(name), bad))).toEqual([422, reported])
    expect(await reasons(await send('PUT', pathOf(name), ''))).toEqual([
      422,
      ['Value error, train.jsonl: it is empty: it has no line with a conversation'],
    ])
    expect((await send('GET', pathOf(name))).status).toBe(404)
    expect((await send('PUT', pathOf(name), row('a'))).status).toBe(200)
  })

  test('when they are large', async () => {
    const large = row('a'.repeat(1_000)).repeat(400)
    expect((await send('PUT', pathOf(newName()), large)).status).toBe(200)
    const [status, [reason]] = (await reasons(await send('PUT', pathOf(newName()), `${large}{}`))) as [number, string[]]
    expect([status, reason]).toEqual([422, 'Value error, train.jsonl, line 401 has no messages'])
  })

  test('in a form, and in a manifest of stored files', async () => {
    const form = new FormData()
    form.append('file', new Blob([bad]), 'train.jsonl')
    form.append('file', new Blob(['x']), 'notes.txt')
    expect(await reasons(await send('PUT', pathOf(newName()), form))).toEqual([422, reported])
    const name = newName()
    await send('PUT', pathOf(name, `/blobs/${sha256(bad)}`), bad)
    const files = [{ path: 'train.jsonl', digest: sha256(bad), size: bad.length }]
    expect(await reasons(await rest.send('PUT', pathOf(name), { files }))).toEqual([422, reported])
  })

  test('unless it is turned off, and other files on request', async () => {
    expect((await send('PUT', pathOf(newName(), '?check=none'), bad)).status).toBe(200)
    expect((await send('PUT', pathOf(newName(), '?file=notes.jsonl'), bad)).status).toBe(200)
    expect((await send('PUT', pathOf(newName(), '?file=notes.jsonl&check=sft'), bad)).status).toBe(422)
    expect((await send('PUT', pathOf(newName(), '?check=some'), bad)).status).toBe(422)
  })
})

describe('an upload as one body', () => {
  test('is train.jsonl of version v0, and reads as it was written', async () => {
    const name = newName()
    const text = row('a') + row('b')
    const made = await put(pathOf(name), text, { 'content-type': 'application/jsonl' })
    const file = { path: 'train.jsonl', digest: sha256(text), size: text.length }
    expect(made).toEqual({
      id: expect.any(String),
      entity,
      project: 'tests',
      name,
      version: 'v0',
      address: `wandb-artifact:///${entity}/tests/${name}:v0`,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: text.length,
      files: [file],
      metadata: {},
      created_at: expect.any(String),
    })
    for (const address of ['', ':latest', ':v0']) expect(await rest.call('GET', pathOf(name + address))).toEqual(made)
    expect(await getText(pathOf(name, ':v0/files/train.jsonl'))).toBe(text)
    expect(await getText(pathOf(name, '/files/train.jsonl'))).toBe(text)
  })

  test('of equal content is the existing version; other content makes a new one', async () => {
    const name = newName()
    const first = await put(pathOf(name), 'a', { 'content-type': 'application/octet-stream' })
    expect(await put(pathOf(name), 'a')).toEqual(first)
    const second = await put(pathOf(name), 'b')
    expect(second.version).toBe('v1')
    const again = await put(pathOf(name), 'a')
    expect([again.version, again.digest, again.id === first.id]).toEqual(['v2', first.digest, false])
    expect(await getText(pathOf(name, ':v1/files/train.jsonl'))).toBe('b')
  })

  test('may name its file, also with a folder, and may then have a JSON content type', async () => {
    const name = newName()
    const query = `?file=${encodeURIComponent('data/münchen 1.jsonl')}`
    const made = await put(pathOf(name, query), row('a'), { 'content-type': 'application/json' })
    expect(made.files[0]?.path).toBe('data/münchen 1.jsonl')
    expect(await getText(pathOf(name, `/files/data/${encodeURIComponent('münchen 1.jsonl')}`))).toBe(row('a'))
  })

  test('may come in chunks without a length, and be empty', async () => {
    const chunks = Array.from({ length: 50 }, () => randomBytes(100_000))
    const name = newName()
    const made = await put(pathOf(name), Readable.toWeb(Readable.from(chunks)) as RequestInit['body'])
    expect(made.files[0]).toEqual({ path: 'train.jsonl', digest: sha256(Buffer.concat(chunks)), size: 5_000_000 })
    expect((await put(pathOf(name), '')).size).toBe(0)
    expect(await getText(pathOf(name, '/files/train.jsonl'))).toBe('')
  })

  test('with a name that leaves its folder is rejected', async () => {
    expect((await send('PUT', pathOf(newName(), `?file=${encodeURIComponent('../a.jsonl')}`), 'x')).status).toBe(422)
  })
})

describe('an upload as a form', () => {
  test('has several files and metadata', async () => {
    const form = new FormData()
    form.set('trajectories', new Blob([row('a')]), 'trajectories.jsonl')
    form.set('other', new Blob(['{}'], { type: 'application/json' }), 'metadata.json')
    form.set('metadata', JSON.stringify({ format: 'jsonl', num_trajectories: 1, odd: '\0' }))
    const name = newName()
    const made = await put(pathOf(name), form)
    expect(made.files).toEqual([
      { path: 'metadata.json', digest: sha256('{}'), size: 2 },
      { path: 'trajectories.jsonl', digest: sha256(row('a')), size: row('a').length },
    ])
    expect(made.metadata).toEqual({ format: 'jsonl', num_trajectories: 1, odd: '\0' })
    expect(await getText(pathOf(name, '/files/metadata.json'))).toBe('{}')
  })

  test('may have many large files', async () => {
    const contents = Array.from({ length: 20 }, () => randomBytes(700_000))
    const form = new FormData()
    for (const [index, content] of contents.entries()) form.append('file', new Blob([content]), `part-${index}.bin`)
    const made = await put(pathOf(newName()), form)
    const digests = Object.fromEntries(made.files.map(({ path, digest }) => [path, digest]))
    expect(digests).toEqual(
      Object.fromEntries(contents.map((content, index) => [`part-${index}.bin`, sha256(content)])),
    )
  })

  const boundary = 'multipart/form-data; boundary=b'
  const part = (head: string, body: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
  test.each([
    ['without a boundary', 'multipart/form-data; charset=utf-8', 'x'],
    ['without a file', boundary, `${part('name="a"', 'x')}--b--\r\n`],
    ['that ends too early', boundary, part('name="a"; filename="a.jsonl"', 'x')],
    ['that ends within a head', boundary, '--b\r\nContent-Disposition: form-data; name="a"; filename="a'],
    ['that is not multipart', boundary, 'hello'],
    ['that is empty', boundary, ''],
    ['whose file name leaves its folder', boundary, `${part('name="a"; filename="../a"', 'x')}--b--\r\n`],
    ['with two files of one name', boundary, `${part('name="a"; filename="a"', 'x').repeat(2)}--b--\r\n`],
    [
      'with metadata that are not an object',
      boundary,
      `${part('name="a"; filename="a"', 'x')}${part('name="metadata"', '[1]')}--b--\r\n`,
    ],
    [
      'with metadata that are nested too deeply',
      boundary,
      `${part('name="a"; filename="a"', 'x')}${part('name="metadata"', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)}--b--\r\n`,
    ],
    [
      'with metadata that are not JSON',
      boundary,
      `${part('name="a"; filename="a"', 'x')}${part('name="metadata"', '{')}--b--\r\n`,
    ],
    [
      'with too many files',
      boundary,
      `${Array.from({ length: 1001 }, (_, index) => part(`name="a"; filename="a${index}"`, 'x')).join('')}--b--\r\n`,
    ],
  ])('%s is rejected', async (_, type, body) => {
    const response = await send('PUT', pathOf(newName()), body, { 'content-type': type })
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 422,
      body: { detail: [expect.objectContaining({ type: 'value_error' })] },
    })
  })
})

describe('a file that is uploaded by its digest', () => {
  const state = async (path: string) => {
    const response = await send('GET', path)
    return response.ok ? await response.json() : response.status
  }

  test('is uploaded in parts, and versions are created from stored files', async () => {
    const name = newName()
    const bytes = randomBytes(300_000)
    const digest = sha256(bytes)
    const blob = pathOf(name, `/blobs/${digest}`)
    expect(await state(blob)).toBe(404)
    for (const [start, end] of [
      [0, 100_000],
      [100_000, 250_000],
    ] as const) {
      const range = { 'content-range': `bytes ${start}-${end - 1}/300000` }
      expect(await rest.send('GET', blob).then(({ status }) => status)).toBe(start === 0 ? 404 : 200)
      const response = await send('PUT', blob, bytes.subarray(start, end), range)
      expect(await response.json()).toEqual({ digest, size: end, complete: false })
    }
    const head = await send('HEAD', blob)
    expect([head.headers.get('upload-offset'), head.headers.get('upload-complete')]).toEqual(['250000', '?0'])
    const files = [{ path: 'train.jsonl', digest, size: bytes.length }]
    const early = await rest.send('PUT', pathOf(name), { files })
    expect([early.status, await early.json()]).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['body', 'files', '0', 'digest'] })] },
    ])
    const last = await send('PUT', blob, bytes.subarray(250_000), { 'content-range': 'bytes 250000-299999/300000' })
    expect(await last.json()).toEqual({ digest, size: 300_000, complete: true })
    const made = await rest.call<Artifact>('PUT', pathOf(name, '?check=none'), { files, metadata: { a: 1 } })
    expect([made.version, made.files, made.metadata]).toEqual(['v0', files, { a: 1 }])
    const read = await send('GET', pathOf(name, '/files/train.jsonl'))
    expect(sha256(Buffer.from(await read.arrayBuffer()))).toBe(digest)
  })

  test('continues after a broken connection', async () => {
    const bytes = randomBytes(2_000_000)
    const digest = sha256(bytes)
    const blob = pathOf(newName(), `/blobs/${digest}`)
    await sendAndCut(blob, bytes.subarray(0, 1_200_000), bytes.length)
    const there = await eventually(async () => {
      const { size } = (await state(blob)) as { size: number }
      expect(size).toBeGreaterThan(0)
      return size
    })
    expect(there).toBeLessThanOrEqual(1_200_000)
    const range = { 'content-range': `bytes ${there}-${bytes.length - 1}/${bytes.length}` }
    const response = await send('PUT', blob, bytes.subarray(there), range)
    expect(await response.json()).toEqual({ digest, size: bytes.length, complete: true })
  })

  test('may overlap with stored parts, and be repeated when it is complete', async () => {
    const bytes = randomBytes(1000)
    const digest = sha256(bytes)
    const blob = pathOf(newName(), `/blobs/${digest}`)
    await send('PUT', blob, bytes.subarray(0, 600), { 'content-range': 'bytes 0-599/1000' })
    const whole = await send('PUT', blob, bytes.subarray(400), { 'content-range': 'bytes 400-999/1000' })
    expect(await whole.json()).toEqual({ digest, size: 1000, complete: true })
    expect(await (await send('PUT', blob, bytes)).json()).toEqual({ digest, size: 1000, complete: true })
  })

  test('is rejected and dropped when its bytes do not match the digest', async () => {
    const digest = sha256('wanted')
    const blob = pathOf(newName(), `/blobs/${digest}`)
    await send('PUT', blob, 'wan', { 'content-range': 'bytes 0-2/6' })
    const response = await send('PUT', blob, 'ted!'.slice(0, 3).toUpperCase(), { 'content-range': 'bytes 3-5/6' })
    expect([response.status, await response.json()]).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['path', 'digest'], type: 'value_error' })] },
    ])
    expect(await state(blob)).toBe(404)
    expect((await send('PUT', blob, 'other')).status).toBe(422)
    expect(await (await send('PUT', blob, 'wanted')).json()).toEqual({ digest, size: 6, complete: true })
  })

  test('has no gaps, and rejects a range that does not fit', async () => {
    const blob = pathOf(newName(), `/blobs/${sha256(randomUUID())}`)
    expect((await send('PUT', blob, 'ted', { 'content-range': 'bytes 3-5/6' })).status).toBe(409)
    for (const range of [
      'bytes 0-5/3',
      'bytes 5-0/6',
      'bytes 0-1/6',
      'bytes */6',
      'lines 0-2/6',
      'bytes 0-2/99999999999999999',
    ])
      expect((await send('PUT', blob, 'wan', { 'content-range': range })).status).toBe(422)
    expect((await send('PUT', blob, 'wan', { 'content-range': 'bytes 0-2/999999999999' })).status).toBe(413)
    expect((await send('PUT', pathOf(newName(), '/blobs/abc'), 'x')).status).toBe(422)
    expect((await send('GET', pathOf(newName(), '/blobs/abc'))).status).toBe(404)
  })

  test.each([
    ['a path that leaves its folder', { files: [{ path: '../a', digest: 'a'.repeat(64), size: 1 }] }],
    ['too much metadata', { files: [{ path: 'a', digest: sha256(''), size: 0 }], metadata: { a: 'x'.repeat(65_536) } }],
  ])('as a manifest with %s is rejected', async (_, body) => {
    expect((await rest.send('PUT', pathOf(newName()), body)).status).toBe(422)
  })
})

describe('a download', () => {
  const text = 'abcdefghij'
  let file: string
  let etag: string
  beforeAll(async () => {
    const name = newName()
    await put(pathOf(name), text)
    file = pathOf(name, ':v0/files/train.jsonl')
    etag = `"${sha256(text)}"`
  })

  test.each<[string, Record<string, string>, number, string | null, string]>([
    ['the whole file', {}, 200, null, text],
    ['its middle', { range: 'bytes=2-4' }, 206, 'bytes 2-4/10', 'cde'],
    ['a range if the ETag matches', { range: 'bytes=0-0', 'if-range': 'ETAG' }, 206, 'bytes 0-0/10', 'a'],
    ['a range if the ETag does not match', { range: 'bytes=0-0', 'if-range': '"x"' }, 200, null, text],
    ['the file unless the ETag matches', { 'if-none-match': 'ETAG' }, 304, null, ''],
    ['the file unless another ETag matches', { 'if-none-match': '"x"' }, 200, null, text],
  ])('of %s', async (_, headers, status, range, body) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('ETAG', etag)]),
    )
    const response = await send('GET', file, undefined, given)
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      status,
      range,
      body,
    ])
    expect(response.headers.get('etag')).toBe(etag)
  })

  test('of a range behind its end is rejected', async () => {
    const response = await send('GET', file, undefined, { range: 'bytes=10-' })
    expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */10'])
  })

  test('with HEAD has its length', async () => {
    const response = await send('HEAD', file)
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '10', ''])
  })
})

test('concurrent uploads of one name become separate versions, equal uploads become one, and none is lost', async () => {
  const name = newName()
  const made = await Promise.all(Array.from({ length: 30 }, (_, index) => put(pathOf(name), `content ${index % 10}`)))
  const list = await rest.call<{ data: Artifact[] }>('GET', pathOf(name, '/versions?limit=100'))
  expect(list.data.map(({ version }) => version)).toEqual(list.data.map((_, index) => `v${index}`))
  const ids = new Set(list.data.map(({ id }) => id))
  expect(made.every(({ id }) => ids.has(id))).toBe(true)
  expect(new Set(list.data.map(({ digest }) => digest)).size).toBe(10)
})

test('versions are listed by pages', async () => {
  const name = newName()
  for (const text of ['a', 'b', 'c']) await put(pathOf(name), text)
  const first = await rest.call<{ data: Artifact[]; last_id: string }>(
    'GET',
    pathOf(name, '/versions?limit=2&order=desc'),
  )
  expect(first).toMatchObject({ has_more: true, data: [{ version: 'v2' }, { version: 'v1' }] })
  const next = await rest.call('GET', pathOf(name, `/versions?order=desc&after=${first.last_id}`))
  expect(next).toMatchObject({ has_more: false, data: [{ version: 'v0' }] })
  for (const after of [randomUUID(), 'x', '%00']) {
    const response = await rest.send('GET', pathOf(name, `/versions?after=${after}`))
    expect(response.status).toBe(422)
  }
})

describe('missing data and data of others', () => {
  test.each([
    ['no such name', () => pathOf(newName())],
    ['no such version', () => pathOf('known', ':v9')],
    ['a version number that is too large', () => pathOf('known', ':v99999999999')],
    ['an invalid version', () => pathOf('known', ':vx')],
    ['two versions', () => pathOf('known', ':v0:v0')],
    ['an invalid name', () => pathOf('%00')],
    ['an encoded slash', () => pathOf('a%2Fb')],
    ["another entity's", () => '/v1/preview/artifacts/another/tests/known'],
    ['an entity with a NUL', () => '/v1/preview/artifacts/%00/tests/known'],
    ['no such list', () => pathOf(newName(), '/versions')],
  ])('%s: 404', async (_, path) => {
    await put(pathOf('known'), 'x')
    const response = await send('GET', path())
    expect([response.status, await response.json()]).toEqual([404, { detail: 'Artifact not found' }])
  })

  test.each(['nothing.jsonl', '..%2Fa', '%2e%2e/a', 'train.jsonl%00', 'train.jsonl/'])(
    'no file %s: 404',
    async (file) => {
      await put(pathOf('known'), 'x')
      expect((await send('GET', pathOf('known', `:v0/files/${file}`))).status).toBe(404)
    },
  )

  test('an upload to another entity, a reserved project or an invalid name is rejected', async () => {
    const status = async (path: string) => (await send('PUT', path, 'x')).status
    expect(await status('/v1/preview/artifacts/another/tests/a')).toBe(403)
    expect(await status(`/v1/preview/artifacts/another/tests/a/blobs/${sha256('x')}`)).toBe(403)
    expect(await status(`/v1/preview/artifacts/${entity}/settings/a`)).toBe(422)
    expect(await status(`/v1/preview/artifacts/${entity}/tests/a:v0`)).toBe(422)
    expect(await status(`/v1/preview/artifacts/${entity}/tests/%00`)).toBe(422)
  })

  test("another entity's file is not found, even by its digest", async () => {
    const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
    const digest = sha256(randomUUID())
    await pool.query('INSERT INTO training.blobs (entity, digest, size) VALUES ($1, $2, 1)', ['another', digest])
    await pool.end()
    const response = await rest.send('PUT', pathOf(newName()), { files: [{ path: 'a', digest, size: 1 }] })
    expect([response.status, (await send('GET', pathOf('a', `/blobs/${digest}`))).status]).toEqual([422, 404])
  })
})

test('a body that is too large is rejected before it is read', async () => {
  const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-length': 6 * 1024 ** 3, expect: '100-continue' }
    const request = httpRequest(stack.url + pathOf(newName()), { method: 'PUT', headers })
    request.on('response', ({ statusCode }) => {
      resolve({ status: statusCode })
      request.destroy()
    })
    request.on('continue', () => reject(new Error('it was asked for')))
    request.on('error', reject)
    request.flushHeaders()
  })
  expect(status).toBe(413)
})

/** Announces a whole file, sends its beginning, and disconnects. */
function sendAndCut(path: string, bytes: Uint8Array, total: number): Promise<void> {
  const headers = {
    authorization: `Bearer ${stack.apiKey}`,
    'content-length': total,
    'content-range': `bytes 0-${total - 1}/${total}`,
  }
  return new Promise((resolve) => {
    const request = httpRequest(stack.url + path, { method: 'PUT', headers })
    request.on('error', () => {})
    request.write(bytes, () => {
      // The server may not have received the sent bytes yet.
      setTimeout(() => {
        request.destroy()
        resolve()
      }, 300)
    })
  })
}
