import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { fileGroups, findLeftOut } from './file-shares.ts'

const root = path.join(import.meta.dirname, '..', '..')
const all = fileGroups.flatMap(({ files }) => files)

afterEach(() => vi.unstubAllEnvs())

test('each file of a group exists, and is in one group', () => {
  expect(all.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
  expect(new Set(all).size).toBe(all.length)
})

test('every run has a share of each group, and some run has each file', () => {
  vi.stubEnv('TRAINYARD_TEST_DEEP', undefined)
  vi.stubEnv('TRAINYARD_TEST_SHARE', undefined)
  const chosen = new Set<string>()
  for (let seed = 0; seed < 50; seed++) {
    vi.stubEnv('TRAINYARD_TEST_SEED', String(seed))
    const leftOut = findLeftOut()
    for (const { files, share } of fileGroups)
      expect(files.filter((file) => !leftOut.includes(file))).toHaveLength(share)
    for (const file of all) if (!leftOut.includes(file)) chosen.add(file)
  }
  expect([...chosen].toSorted()).toEqual(all.toSorted())
})

test('a deep run leaves no file out', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_DEEP', '1')
  expect(findLeftOut()).toEqual([])
})
