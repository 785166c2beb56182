import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findLaunchOptions } from './chromium.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'chromium-'))
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
  vi.stubEnv('CHROMIUM', undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

async function makeBrowser(name: string): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(file, '#!/bin/sh\necho Chromium 150\n')
  await chmod(file, 0o755)
  return file
}

test('playwright gets the path of a browser in the search path', async () => {
  const file = await makeBrowser('chromium')
  expect(await findLaunchOptions()).toMatchObject({ executablePath: file })
})

test('CHROMIUM may be a name too', async () => {
  await makeBrowser('chromium')
  const file = await makeBrowser('my-browser')
  vi.stubEnv('CHROMIUM', 'my-browser')
  expect(await findLaunchOptions()).toMatchObject({ executablePath: file })
})

test('a browser that CHROMIUM names and that is not there is an error', async () => {
  vi.stubEnv('CHROMIUM', 'no-browser')
  await expect(findLaunchOptions()).rejects.toThrow('no-browser does not start. Set CHROMIUM to')
})
