import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBucketReader, type ReadObject } from '../../lib/outbound/bucket-reader.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'

let server: S3Server
let read: ReadObject
const { signal } = new AbortController()

beforeAll(async () => {
  server = await startS3Server()
  read = createBucketReader(makeClient(server.credentials.AWS_SECRET_ACCESS_KEY))
  await mkdir(path.join(server.folder, 'data'))
  await writeFile(path.join(server.folder, 'data', 'day=1 é.jsonl'), 'x'.repeat(100))
})

afterAll(() => server.stop())

function makeClient(secretAccessKey: string): S3Client {
  const credentials = { accessKeyId: server.credentials.AWS_ACCESS_KEY_ID, secretAccessKey }
  const { endpoint } = server
  return new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', maxAttempts: 1, credentials })
}

const location = { bucket: 'artifacts', key: 'data/day=1 é.jsonl' }

test('reads an object with any key', async () => {
  expect(await text(await read(location, { maxBytes: 100, signal }))).toBe('x'.repeat(100))
})

test.each([
  ['a missing object', { ...location, key: 'data/none' }, 404],
  ['a missing bucket', { ...location, bucket: 'none-of-that' }, 404],
])('reports %s as permanent', async (_, missing, status) => {
  const fault = { name: 'ResponseError', kind: 'status', status, transient: false }
  await expect(read(missing, { maxBytes: 100, signal })).rejects.toMatchObject(fault)
})

test('reports an object that it may not read as permanent', async () => {
  const refused = createBucketReader(makeClient('another'))
  const fault = { name: 'ResponseError', kind: 'status', status: 403, transient: false }
  await expect(refused(location, { maxBytes: 100, signal })).rejects.toMatchObject(fault)
})

test('reads no more than the limit', async () => {
  await expect(read(location, { maxBytes: 99, signal })).rejects.toMatchObject({ kind: 'too_large' })
})

test('reports an unavailable server as temporary', async () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const endpoint = 'http://127.0.0.1:1'
  const away = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', maxAttempts: 1, credentials })
  const fault = { kind: 'unreachable', transient: true }
  await expect(createBucketReader(away)(location, { maxBytes: 100, signal })).rejects.toMatchObject(fault)
})
