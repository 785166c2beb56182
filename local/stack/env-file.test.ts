import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseDotenv, readStackEnv, writeStackEnv } from './env-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'env-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('written values are read again, and only the owner can read the file', async () => {
  const env = {
    TRAINYARD_URL: 'http://127.0.0.1:8080',
    TRAINYARD_API_KEY: 'ty_key',
    TRAINYARD_BASE_MODEL: 'trainyard/tiny-chat',
    KUBECONFIG: '/state/kubeconfig',
  }
  expect(readStackEnv(folder)).toBeUndefined()
  writeStackEnv(folder, env)
  expect(readStackEnv(folder)).toEqual(env)
  expect((await stat(path.join(folder, 'env'))).mode & 0o777).toBe(0o600)
})

test('values may contain equals signs, and other lines are ignored', () => {
  expect(parseDotenv('# comment\nA=b=c\n\n')).toEqual({ A: 'b=c' })
})
