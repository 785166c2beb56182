import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeVolumeFiles } from './volume-files.ts'

let folder: string

beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), 'trainyard-volume-')), 'v')
})

afterEach(() => rm(path.dirname(folder), { recursive: true }))

const file = (name: string, text: string) => ({ path: name, content: Buffer.from(text) })

test('a volume has exactly the wanted files, with their modes', async () => {
  await writeVolumeFiles(folder, [file('a', '1'), file('deep/b', '2'), { ...file('c', '3'), mode: 0o400 }], 0o644)
  await writeVolumeFiles(folder, [file('deep/b', '4'), { path: 'c', content: 'unchanged' }], 0o600)
  const names = (await readdir(folder, { recursive: true })).sort()
  expect(names).toEqual(['c', 'deep', 'deep/b'])
  expect(await readFile(path.join(folder, 'deep/b'), 'utf8')).toBe('4')
  const modes = await Promise.all(
    ['c', 'deep/b'].map(async (name) => (await stat(path.join(folder, name))).mode & 0o777),
  )
  expect(modes).toEqual([0o400, 0o600])
})

test('an unchanged file is not written again', async () => {
  await writeVolumeFiles(folder, [file('a', '1')], 0o644)
  const before = await stat(path.join(folder, 'a'))
  await writeVolumeFiles(folder, [file('a', '1')], 0o644)
  expect((await stat(path.join(folder, 'a'))).ino).toBe(before.ino)
})

test('no file is written outside of its volume', async () => {
  await expect(writeVolumeFiles(folder, [file('../a', '1')], 0o644)).rejects.toThrow('leaves its volume')
})
