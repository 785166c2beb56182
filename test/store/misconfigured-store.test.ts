import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import { StoreMisconfigured } from '../../artifacts/store/misconfigured.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { waitForStore } from '../../artifacts/store/wait-for-store.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'

const log = createLogger('test', 'silent')
let server: S3Server
let folder: string

beforeAll(async () => {
  server = await startS3Server()
})
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'misconfigured-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
})
afterAll(() => server.stop())

const openBucket = (endpoint = server.endpoint) =>
  createArtifactStore(`s3://${server.bucket}/a`, { endpoint, keyFolder: folder })
const writeKey = async (secret = server.credentials.AWS_SECRET_ACCESS_KEY) => {
  await writeFile(path.join(folder, 'access-key-id'), server.credentials.AWS_ACCESS_KEY_ID)
  await writeFile(path.join(folder, 'secret-access-key'), `${secret}\n`)
}

/** Waits for a store. Returns the troubles so far, and whether the wait is over. */
function wait(store: ArtifactStore) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const seen: { troubles: (string | undefined)[]; isOver: boolean } = { troubles: [], isOver: false }
  const onTrouble = (trouble: string | undefined) => void seen.troubles.push(trouble)
  void waitForStore(store, log, { signal: stop.signal, onTrouble }).then(() => (seen.isOver = true))
  return seen
}

test('a process whose Secret lacks a key waits, says which one, and goes on when it is there', async () => {
  const seen = wait(await openBucket())
  await eventually(() =>
    expect(seen.troubles[0]).toMatch('The Secret of artifacts.s3.secretName has no key access-key-id'),
  )
  await writeFile(path.join(folder, 'access-key-id'), server.credentials.AWS_ACCESS_KEY_ID)
  await eventually(() => expect(seen.troubles.at(-1)).toMatch('has no key secret-access-key'))
  expect(seen.isOver).toBe(false)
  await writeKey()
  await eventually(() => expect(seen.isOver).toBe(true))
  expect(seen.troubles.at(-1)).toBeUndefined()
})

test('a changed key is used without a restart', async () => {
  await writeKey()
  const store = await openBucket()
  await store.put('payloads/a/b', Buffer.from('x'))
  await writeKey('another')
  await expect(store.probe()).rejects.toThrow('artifact store')
  await writeKey()
  await store.probe()
  expect(await store.stat('payloads/a/b')).toMatchObject({ size: 1 })
})

test('a bucket that does not answer is not waited for', async () => {
  await writeKey()
  const seen = wait(await openBucket(`http://127.0.0.1:${await findFreePort()}`))
  await eventually(() => expect(seen.isOver).toBe(true))
  expect(seen.troubles).toEqual([undefined])
})

/** Root may write everywhere. */
async function asOther<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(12_345)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

test('a volume that this user cannot write is waited for, with the user that it belongs to', async () => {
  const root = path.join(folder, 'volume')
  await mkdir(root)
  await chmod(folder, 0o755)
  await chmod(root, 0o555)
  const { uid, gid } = await stat(root)
  const store = await createArtifactStore(root)
  const stop = new AbortController()
  const trouble = await asOther(
    () =>
      new Promise<string | undefined>((resolve) => {
        const onTrouble = (found: string | undefined) => (stop.abort(), resolve(found))
        void waitForStore(store, log, { signal: stop.signal, onTrouble })
      }),
  )
  expect(trouble).toContain(`EACCES at ${root}/.spool. It belongs to user ${uid} and group ${gid}, with the mode 555.`)
  expect(trouble).toContain('use a volume that takes fsGroup')
  await chmod(root, 0o777)
  await asOther(() => store.probe())
})

test('files of another user that cannot be removed are told', async () => {
  const root = path.join(folder, 'volume')
  const checkpoint = path.join(root, 'checkpoints/id')
  for (const made of [checkpoint, path.join(root, '.spool')]) await mkdir(made, { recursive: true })
  await writeFile(path.join(checkpoint, 'manifest.json'), '{}')
  await chmod(folder, 0o755)
  await chmod(path.join(root, '.spool'), 0o777)
  await chmod(path.dirname(checkpoint), 0o555)
  onTestFinished(() => chmod(path.dirname(checkpoint), 0o755))
  const store = await createArtifactStore(root)
  const removing = await asOther(() => store.removeAll('checkpoints/id').catch((cause: unknown) => cause))
  expect(removing).toBeInstanceOf(StoreMisconfigured)
  expect((removing as Error).message).toMatch(/^removing from the artifact store: EACCES at .*checkpoints/)
})
