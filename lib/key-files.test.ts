import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withKeyFiles } from './key-files.ts'

test('keys are read from the files of a mounted Secret, which count more than variables', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(path.join(folder, '..2026'))
  await writeFile(path.join(folder, '..2026/engine-key'), 'new\n')
  await symlink('..2026/engine-key', path.join(folder, 'engine-key'))
  const env = { TRAINYARD_KEY_FOLDER: folder, TRAINYARD_ENGINE_KEY: 'old', PATH: '/bin' }
  expect(withKeyFiles(env)).toEqual({ ...env, TRAINYARD_ENGINE_KEY: 'new' })
  expect(withKeyFiles({ TRAINYARD_ENGINE_KEY: 'old' })).toEqual({ TRAINYARD_ENGINE_KEY: 'old' })
})
