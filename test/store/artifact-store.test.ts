import { createHash, randomUUID } from 'node:crypto'
import { access, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreFailed } from '../../artifacts/store/failed.ts'
import { forEachConcurrent } from '../../artifacts/store/for-each-concurrent.ts'
import { ArtifactMissing } from '../../artifacts/store/missing.ts'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import { WrongDigest } from '../../artifacts/store/wrong-digest.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { eventually } from '../support/eventually.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { openSeverableProxy } from '../support/severable-proxy.ts'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

const megabyte = 1024 * 1024
let server: S3Server
let folder: string
let store: ArtifactStore

beforeAll(async () => {
  server = await startS3Server()
  for (const [name, value] of Object.entries(server.credentials)) vi.stubEnv(name, value)
  folder = await mkdtemp(path.join(tmpdir(), 'artifact-store-'))
})

afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

const digestOf = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

async function listAll(prefix = '', of = store): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for await (const { key, size } of of.list(prefix)) sizes[key] = size
  return sizes
}

/** Generates bytes while they are read, a megabyte at a time. */
function* makeMegabytes(count: number) {
  for (let number = 0; number < count; number++) yield Buffer.alloc(megabyte, number)
}

/** A source that sends some bytes and then stays open until the test ends it. */
function openSource(first: Uint8Array) {
  const source = new Readable({ read: () => {} })
  source.push(first)
  return source
}

const openOnS3 = (endpoint: string, prefix: string) => createArtifactStore(`s3://artifacts/${prefix}`, { endpoint })

const stores: [string, () => Promise<ArtifactStore>][] = [
  ['a folder', () => createArtifactStore(path.join(folder, randomUUID()))],
  ['S3', () => openOnS3(server.endpoint, randomUUID())],
]

describe.each(stores)('a store on %s', (kind, createStore) => {
  beforeEach(async () => {
    store = await createStore()
  })

  test('returns a stored object, with its address, digest and size', async () => {
    const stored = await store.put('payloads/a/x.json', Buffer.from('hello'))
    const uri = 'artifact:///payloads/a/x.json'
    expect(stored).toEqual({ uri, digest: digestOf('hello'), size: 5 })
    expect(await text(await store.open('payloads/a/x.json'))).toBe('hello')
    expect(await store.stat('payloads/a/x.json')).toEqual({ size: 5, modifiedAt: expect.any(Date) })
  })

  test('accepts an empty object', async () => {
    expect(await store.put('empty', Readable.from([]))).toMatchObject({ digest: digestOf(''), size: 0 })
    expect(await text(await store.open('empty'))).toBe('')
  })

  test('stores a stream of many parts completely', async () => {
    const all = Buffer.concat([...makeMegabytes(40)])
    const stored = await store.put('big', Readable.from(makeMegabytes(40)))
    expect(stored).toMatchObject({ digest: digestOf(all), size: all.length })
    expect(digestOf(await buffer(await store.open('big')))).toBe(stored.digest)
  })

  test('keeps little of a stream in memory', async () => {
    let made = 0
    const source = Readable.from(
      (function* () {
        for (const chunk of makeMegabytes(400)) yield (((made += chunk.length), chunk))
      })(),
    )
    const before = process.memoryUsage().rss
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before)), 20)
    await store.put('huge', source)
    clearInterval(watch)
    expect(made).toBe(400 * megabyte)
    expect(most).toBeLessThan(250 * megabyte)
  })

  test('shows nothing of an object before it is complete', async () => {
    const source = openSource(Buffer.alloc(megabyte))
    const putting = store.put('slow', source)
    expect(await store.stat('slow')).toBeUndefined()
    expect(await listAll()).toEqual({})
    source.push(null)
    await putting
    expect(await listAll()).toEqual({ slow: megabyte })
  })

  test.each([1, 40])('keeps nothing of a stream that fails after %i MB, and throws its error', async (megabytes) => {
    const source = Readable.from(
      (function* () {
        yield* makeMegabytes(megabytes)
        throw new Error('the client left')
      })(),
    )
    const fault: Error = await store.put('broken', source).then(
      () => expect.fail('it was stored'),
      (error: Error) => error,
    )
    expect(fault.message).toBe('writing to the artifact store')
    expect((fault.cause as Error).message).toBe('the client left')
    expect(await store.stat('broken')).toBeUndefined()
    expect(await listAll()).toEqual({})
    if (kind === 'S3') expect(await listUploads()).toEqual([])
  })

  test('stores a source with the announced MD5, and nothing of one with another', async () => {
    const all = Buffer.concat([...makeMegabytes(9)])
    const expected = { size: all.length, md5: createHash('md5').update(all).digest('hex') }
    expect(await store.putExact('exact', Readable.from(makeMegabytes(9)), expected)).toEqual({
      uri: 'artifact:///exact',
      digest: digestOf(all),
      size: all.length,
    })
    expect(digestOf(await buffer(await store.open('exact')))).toBe(digestOf(all))
    const wrong = { size: megabyte, md5: expected.md5 }
    await expect(store.putExact('wrong', Readable.from(makeMegabytes(1)), wrong)).rejects.toThrow(WrongDigest)
    expect(await listAll()).toEqual({ exact: all.length })
  })

  test('keeps nothing of a source with an announced MD5 that fails', async () => {
    const failing = Readable.from(
      (function* () {
        yield* makeMegabytes(2)
        throw new Error('the client left')
      })(),
    )
    const expected = { size: 3 * megabyte, md5: '0'.repeat(32) }
    await expect(store.putExact('broken', failing, expected)).rejects.toThrow('writing to the artifact store')
    expect(await listAll()).toEqual({})
  })

  test.each([
    [{ start: 0 }, '0123456789'],
    [{ start: 3 }, '3456789'],
    [{ start: 3, end: 3 }, '3'],
    [{ start: 0, end: 4 }, '01234'],
    [{ start: 8, end: 100 }, '89'],
    [{ start: 10 }, ''],
    [{ start: 100, end: 200 }, ''],
  ])('reads the range %j', async (range, expected) => {
    await store.put('digits', Buffer.from('0123456789'))
    expect(await text(await store.open('digits', range))).toBe(expected)
  })

  test('reports that an object is missing', async () => {
    await store.put('folder/x', Buffer.from('x'))
    for (const key of ['nothing', 'folder', 'folder/y', 'folder/x/y']) {
      await expect(store.open(key)).rejects.toThrow(ArtifactMissing)
      await expect(store.open(key, { start: 1 })).rejects.toThrow(ArtifactMissing)
      expect(await store.stat(key)).toBeUndefined()
      await store.remove(key)
    }
    expect(await listAll()).toEqual({ 'folder/x': 1 })
  })

  test('adopts a spooled file', async () => {
    const file = await store.spoolPath()
    await writeFile(file, 'spooled')
    const known = { digest: digestOf('spooled'), size: 7 }
    expect(await store.adopt('data/v1/train.jsonl', file, known)).toEqual({
      uri: 'artifact:///data/v1/train.jsonl',
      ...known,
    })
    expect(await text(await store.open('data/v1/train.jsonl'))).toBe('spooled')
    expect(await isThere(file)).toBe(false)
    await expect(store.adopt('x', file, known)).rejects.toThrow('writing to the artifact store')
  })

  test('adopts a file of another file system', async () => {
    const other = await mkdtemp('/dev/shm/artifact-store-')
    await writeFile(path.join(other, 'file'), 'from elsewhere')
    await store.adopt('adopted', path.join(other, 'file'), { digest: digestOf('from elsewhere'), size: 14 })
    expect(await text(await store.open('adopted'))).toBe('from elsewhere')
    expect(await readdir(other)).toEqual([])
    await rm(other, { recursive: true })
  })

  test('lists and removes by folders, never by parts of names', async () => {
    for (const key of ['a/x', 'a/b/y', 'ab/x', 'a.b', 'b/x']) await store.put(key, Buffer.from(key))
    expect(await listAll()).toEqual({ 'a/x': 3, 'a/b/y': 5, 'ab/x': 4, 'a.b': 3, 'b/x': 3 })
    expect(await listAll('a')).toEqual({ 'a/x': 3, 'a/b/y': 5 })
    expect(await listAll('a/b/')).toEqual({ 'a/b/y': 5 })
    expect(await listAll('a/x')).toEqual({})
    expect(await listAll('none')).toEqual({})
    expect(await store.removeAll('a')).toEqual({ objects: 2, bytes: 8 })
    expect(await store.removeAll('a')).toEqual({ objects: 0, bytes: 0 })
    expect(await store.removeAll('b/x')).toEqual({ objects: 0, bytes: 0 })
    await store.remove('b/x')
    expect(await listAll()).toEqual({ 'ab/x': 4, 'a.b': 3 })
  })

  test('has the time when an object was stored', async () => {
    await store.put('x', Buffer.from('x'))
    const reported = [await store.stat('x')]
    for await (const listed of store.list('')) reported.push(listed)
    expect(reported).toHaveLength(2)
    for (const found of reported) expect(Math.abs(Number(found?.modifiedAt) - Date.now())).toBeLessThan(60_000)
  })

  test('lists and removes more objects than fit into one answer', async () => {
    const numbers = Readable.from(Array.from({ length: 1_100 }, (_, number) => number))
    await forEachConcurrent(numbers, 16, async (number: number) => {
      await store.put(`many/${number}`, Buffer.from('x'))
    })
    expect(Object.keys(await listAll('many'))).toHaveLength(1_100)
    expect(await store.removeAll('many')).toEqual({ objects: 1_100, bytes: 1_100 })
    expect(await listAll()).toEqual({})
  })

  test('copies a folder', async () => {
    for (const name of ['manifest.json', 'adapter.bin', 'deep/z']) await store.put(`from/${name}`, Buffer.from(name))
    await store.copyAll('from', 'to/there/')
    expect(await listAll('to')).toEqual({
      'to/there/manifest.json': 13,
      'to/there/adapter.bin': 11,
      'to/there/deep/z': 6,
    })
    expect(await text(await store.open('to/there/deep/z'))).toBe('deep/z')
    expect(Object.keys(await listAll('from'))).toHaveLength(3)
  })

  test.each(['', '/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/', '.hidden', 'a/.hidden', 'A', 'a\0b', 'a\nb', 'ä'])(
    'rejects the key %j',
    async (key) => {
      const words = 'not a key'
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow(words)
      await expect(store.adopt(key, '/nothing', { digest: '', size: 0 })).rejects.toThrow(words)
      await expect(store.open(key)).rejects.toThrow(words)
      await expect(store.stat(key)).rejects.toThrow(words)
      await expect(store.remove(key)).rejects.toThrow(words)
    },
  )

  test.each(['/', '../x', 'a/..', './', '.spool'])('rejects the prefix %j', async (prefix) => {
    await expect(listAll(prefix)).rejects.toThrow('not a key')
    await expect(store.removeAll(prefix)).rejects.toThrow('not a key')
    await expect(store.copyAll(prefix, 'x')).rejects.toThrow('not a key')
  })

  test('cannot be removed as a whole', async () => {
    await store.put('x', Buffer.from('x'))
    await expect(store.removeAll('')).rejects.toThrow()
    expect(await listAll()).toEqual({ x: 1 })
  })

  test('removes files that were not modified for a while', async () => {
    const [old, young] = [await store.spoolPath(), await store.spoolPath()]
    for (const file of [old, young]) await writeFile(file, 'half')
    const yesterday = Date.now() / 1000 - 86_400
    await utimes(old, yesterday, yesterday)
    await store.sweepTemporary(3_600_000)
    expect([await isThere(old), await isThere(young)]).toEqual([false, true])
    await rm(young)
  })

  test('checks that it can be written, and leaves nothing behind', async () => {
    await store.probe()
    expect(await listAll()).toEqual({})
  })
})

test('in a folder, no incomplete file stays behind', async () => {
  const root = path.join(folder, randomUUID())
  store = await createArtifactStore(root)
  const broken = Readable.from(
    (function* () {
      yield* makeMegabytes(1)
      throw new Error('the client left')
    })(),
  )
  await expect(store.put('broken', broken)).rejects.toThrow('writing to the artifact store')
  await store.put('a/x', Buffer.from('x'))
  await store.copyAll('a', 'b')
  await store.removeAll('a')
  await store.probe()
  expect(await readdir(root, { recursive: true })).toEqual(expect.arrayContaining(['b', 'b/x', '.spool']))
  expect(await readdir(path.join(root, '.spool'))).toEqual([])
})

async function listUploads() {
  const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true })
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: server.bucket }))
  return Uploads
}

describe('on S3', () => {
  test('stores of one bucket do not see each other', async () => {
    const one = await openOnS3(server.endpoint, 'one')
    const other = await openOnS3(server.endpoint, 'one-more')
    await one.put('x', Buffer.from('one'))
    expect(await other.stat('x')).toBeUndefined()
    expect([await listAll('', one), await listAll('', other)]).toEqual([{ x: 3 }, {}])
  })

  test('an object whose ETag is no MD5 is read to compare it', async () => {
    const front = await openEncryptingFront(server.port)
    const encrypted = await openOnS3(front.endpoint, 'encrypted')
    const all = Buffer.concat([...makeMegabytes(3)])
    const expected = { size: all.length, md5: createHash('md5').update(all).digest('hex') }
    const stored = await encrypted.putExact('right', Readable.from(makeMegabytes(3)), expected)
    expect([stored.digest, front.reads]).toEqual([digestOf(all), 1])
    front.spoil()
    const wrong = encrypted.putExact('wrong', Readable.from(makeMegabytes(3)), expected)
    await expect(wrong).rejects.toThrow(WrongDigest)
    expect(await listAll('', await openOnS3(server.endpoint, 'encrypted'))).toEqual({ right: all.length })
    await front.close()
  })

  test('uploads that a crash left are aborted', async () => {
    const client = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true })
    await client.send(new CreateMultipartUploadCommand({ Bucket: server.bucket, Key: 'crashed/x' }))
    const crashed = await openOnS3(server.endpoint, 'crashed')
    await crashed.sweepTemporary(3_600_000)
    expect(await listUploads()).toHaveLength(1)
    await eventually(async () => {
      await crashed.sweepTemporary(0)
      expect(await listUploads()).toEqual([])
    })
  })

  test('an unavailable store is not a missing object', async () => {
    const proxy = await openSeverableProxy({ host: '127.0.0.1', port: server.port })
    proxy.cut()
    const away = await openOnS3(`http://127.0.0.1:${proxy.port}`, 'x')
    const faults = await Promise.all(
      [away.open('x'), away.stat('x'), away.put('x', Buffer.from('x')), away.probe(), listAll('', away)].map((answer) =>
        answer.then(
          () => expect.fail('it answered'),
          (error: Error) => error,
        ),
      ),
    )
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(StoreFailed)
      expect(fault.message).toMatch(/the artifact store$/)
      // The proxy ends a connection before or after its request is written.
      expect(['UND_ERR_SOCKET', 'ECONNRESET']).toContain((fault.cause as { code?: string }).code)
    }
    await proxy.close()
  })

  test('a missing bucket is not a missing object', async () => {
    const wrong = await createArtifactStore('s3://no-such-bucket', { endpoint: server.endpoint })
    const fault = await wrong.open('x').catch((error: unknown) => error)
    expect(fault).not.toBeInstanceOf(ArtifactMissing)
    expect(fault).toMatchObject({ message: 'reading from the artifact store', cause: { name: 'NoSuchBucket' } })
  })

  test('a download that is cut off fails and does not end early', async () => {
    const proxy = await openSeverableProxy({ host: '127.0.0.1', port: server.port })
    const cut = await openOnS3(`http://127.0.0.1:${proxy.port}`, 'cut')
    await cut.put('big', Readable.from(makeMegabytes(40)))
    const body = await cut.open('big')
    body.once('data', () => proxy.cut())
    await expect(buffer(body)).rejects.toThrow()
    await proxy.close()
  })
})

test.each(['artifacts', './x', 's3://', 's3://A', 's3://bucket/../x', 's3://bucket/.x', 'https://bucket', ''])(
  '%j is not the address of a store',
  async (address) => {
    await expect(createArtifactStore(address)).rejects.toThrow('TRAINYARD_ARTIFACTS must be')
  },
)

/** An S3 server whose ETags are no MD5s, like those of objects that are encrypted with a key of KMS. */
interface EncryptingFront {
  endpoint: string
  /** How many objects were read. */
  readonly reads: number
  /** From now on, the first byte of what is read differs from what was written. */
  spoil: () => void
  close: () => Promise<void>
}

/** Opens one in front of an S3 server. */
async function openEncryptingFront(port: number): Promise<EncryptingFront> {
  let [reads, spoiled] = [0, false]
  const front = http.createServer((incoming, response) => {
    const { method, url, headers } = incoming
    const answer = (answered: http.IncomingMessage) => {
      response.writeHead(answered.statusCode!, { ...answered.headers, ...(answered.headers.etag && { etag: '"kms"' }) })
      if (method === 'GET') reads++
      if (method === 'GET' && spoiled) answered.once('data', (chunk: Buffer) => (chunk[0]! ^= 1))
      answered.pipe(response)
    }
    const request = http.request({ port, method, path: url, headers, agent: false }, answer)
    request.on('error', () => response.destroy())
    incoming.pipe(request)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    get reads() {
      return reads
    },
    spoil: () => (spoiled = true),
    close: async () => {
      front.closeAllConnections()
      front.close()
      await once(front, 'close')
    },
  }
}
