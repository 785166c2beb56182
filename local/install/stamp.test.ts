import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isComplete, moveWithStamp } from './stamp.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'stamp-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a file put in place is complete', async () => {
  await writeFile(path.join(folder, 'etcd.tmp'), 'binary')
  await moveWithStamp(path.join(folder, 'etcd.tmp'), path.join(folder, 'etcd'), 'built')
  expect(await isComplete(path.join(folder, 'etcd'))).toBe(true)
})

test('a file without a stamp, of another size, or absent is not', async () => {
  await writeFile(path.join(folder, 'unstamped'), 'binary')
  await writeFile(path.join(folder, 'etcd.tmp'), 'binary')
  await moveWithStamp(path.join(folder, 'etcd.tmp'), path.join(folder, 'etcd'), 'built')
  await writeFile(path.join(folder, 'etcd'), 'bin')
  expect(await isComplete(path.join(folder, 'unstamped'))).toBe(false)
  expect(await isComplete(path.join(folder, 'etcd'))).toBe(false)
  expect(await isComplete(path.join(folder, 'absent'))).toBe(false)
})
