import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSecretDigests } from './read-digests.ts'

let folder: string
let version = 0

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-other-secrets-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Writes files as a kubelet does: into a new hidden folder, to which a link then leads. */
async function writeFiles(files: Record<string, string>): Promise<void> {
  const data = `..${version++}`
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.join(folder, data, path.dirname(file)), { recursive: true })
    await writeFile(path.join(folder, data, file), text)
    const reader = file.split('/')[0]!
    await symlink(`..data/${reader}`, path.join(folder, reader)).catch(() => {})
  }
  await symlink(data, path.join(folder, '..new'))
  await rename(path.join(folder, '..new'), path.join(folder, '..data'))
}

const read = (key = 'k'.repeat(48)) => readSecretDigests(folder, key)

test('without Secrets, digests are empty', async () => {
  expect(read()).toEqual({ control: '', engine: '', trainer: '' })
  await writeFiles({ 'control/ca/ca.crt': 'one' })
  expect(read()).toEqual({ control: expect.stringMatching(/^[0-9a-f]{16}$/), engine: '', trainer: '' })
})

test('a digest changes with the contents, the name and the key, and with nothing else', async () => {
  const files = { 'control/a/key': '1', 'engine/b/key': '2', 'trainer/c/key': '3' }
  await writeFiles(files)
  const first = read()
  await writeFiles(files)
  expect(read()).toEqual(first)
  await writeFiles({ ...files, 'engine/b/key': 'changed' })
  expect({ ...read(), engine: first.engine }).toEqual(first)
  expect(read().engine).not.toBe(first.engine)
  await writeFiles({ ...files, 'control/a/.key': '1' })
  expect(read().control).not.toBe(first.control)
  await writeFiles(files)
  expect(read('another')).not.toEqual(first)
})
