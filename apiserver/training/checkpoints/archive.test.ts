import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FolderStore } from '../../../artifacts/store/folder-store.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { archiveCheckpoint } from './archive.ts'

const modifiedAt = new Date('2026-01-02T03:04:05.678Z')
// The longest possible name.
const folder = `${'m'.repeat(128)}-step2147483647`

let root: string
let store: ArtifactStore

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'archive-'))
  store = new FolderStore(root)
})

afterAll(() => rm(root, { recursive: true }))

async function putFiles(contents: Record<string, Buffer>) {
  return Promise.all(
    Object.entries(contents).map(async ([name, bytes]) => {
      const { digest, size } = await store.put(`checkpoints/c/${name}`, bytes)
      return { path: name, size, digest, key: `checkpoints/c/${name}` }
    }),
  )
}

test('an archive contains the folder, has the announced length, and is always the same', async () => {
  const contents = {
    'adapter_config.json': Buffer.from('{}'),
    'adapter_model.safetensors': Buffer.alloc(1_000_001, 7),
    'manifest.json': Buffer.alloc(512, 1),
  }
  const files = await putFiles(contents)
  const first = archiveCheckpoint(store, folder, files, modifiedAt)
  const bytes = await buffer(first.stream)
  const again = await buffer(archiveCheckpoint(store, folder, files, modifiedAt).stream)
  expect(bytes.length).toBe(first.size)
  expect(digestOf(again)).toBe(digestOf(bytes))

  const found: Record<string, Buffer> = {}
  for await (const entry of Readable.from([bytes]).pipe(extract())) found[entry.header.name] = await buffer(entry)
  expect(found).toEqual(
    Object.fromEntries(Object.entries(contents).map(([name, content]) => [`${folder}/${name}`, content])),
  )
})

test('an archive that is not read keeps little of the files in memory', async () => {
  const files = await putFiles({ 'adapter_model.safetensors': Buffer.alloc(64 * 1024 * 1024) })
  const opened: Readable[] = []
  const watched = { open: async (key: string) => watch(await store.open(key)) } as unknown as ArtifactStore
  function watch(stream: Readable) {
    opened.push(stream)
    return stream
  }
  const { stream } = archiveCheckpoint(watched, folder, files, modifiedAt)
  await delay(200)
  const read = (opened[0] as Readable & { bytesRead: number }).bytesRead
  stream.destroy()
  expect(read).toBeLessThan(2 * 1024 * 1024)
})

test('an archive with a missing file is aborted', async () => {
  const files = [{ path: 'gone', size: 3, digest: '', key: 'checkpoints/gone/x' }]
  await expect(buffer(archiveCheckpoint(store, folder, files, modifiedAt).stream)).rejects.toThrow(
    'not in the artifact store',
  )
})

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
