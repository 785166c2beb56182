import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FolderStore } from './folder-store.ts'
import { SourceTooLarge, spoolSource } from './spool.ts'

let folder: string
let store: FolderStore
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'spool-'))
  store = new FolderStore(folder)
})
afterAll(() => rm(folder, { recursive: true }))

const listSpool = () => readdir(path.join(folder, '.spool'))

test('the bytes of a source are in a file, counted and digested', async () => {
  const chunks = Array.from({ length: 40 }, () => randomBytes(50_000))
  const spooled = await spoolSource(store, Readable.from(chunks), { maxBytes: 2_000_000 })
  const bytes = Buffer.concat(chunks)
  const digest = createHash('sha256').update(bytes).digest('hex')
  expect(spooled).toEqual({ file: spooled.file, digest, size: 2_000_000, broken: undefined })
  expect(bytes.equals(await readFile(spooled.file))).toBe(true)
  await rm(spooled.file)
})

test('if a source fails, its bytes are kept, and the error is returned', async () => {
  const error = new Error('cut')
  const source = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      await Promise.resolve()
      throw error
    })(),
  )
  const spooled = await spoolSource(store, source, { maxBytes: 100 })
  expect([spooled.size, spooled.broken, await readFile(spooled.file, 'utf8')]).toEqual([4, error, 'half'])
  await rm(spooled.file)
})

test('a source that is too large leaves no file behind, and is not destroyed', async () => {
  const give = async () => {
    const source = Readable.from([Buffer.from('abc'), Buffer.from('def'), Buffer.from('ghi')])
    await expect(spoolSource(store, source, { maxBytes: 5 })).rejects.toBeInstanceOf(SourceTooLarge)
    return source.destroyed
  }
  // With this many at once, some files are still being opened when their source is already too large.
  const destroyed = await Promise.all(Array.from({ length: 50 }, give))
  expect([await listSpool(), new Set(destroyed)]).toEqual([[], new Set([false])])
})

test('a folder without write access is an error at once', async () => {
  const missing = { spoolPath: () => Promise.resolve(path.join(folder, 'none', 'file')) }
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(100_000)
    })(),
  )
  await expect(spoolSource(missing, endless, { maxBytes: 1e9 })).rejects.toMatchObject({ code: 'ENOENT' })
})
