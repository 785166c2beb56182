import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { dataFolder, preparePostgres, unprivilegedUser } from './postgres.ts'
import type { StackSettings } from './settings.ts'

const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n'

test('postgres is preferred to nobody', () => {
  const passwd = `root:x:0:0:root:/root:/bin/bash\n${nobody}postgres:x:105:110::/var/lib/postgresql:/bin/bash\n`
  expect(unprivilegedUser(passwd)).toEqual({ uid: 105, gid: 110 })
})

test('nobody serves where there is no postgres', () => {
  expect(unprivilegedUser(nobody)).toEqual({ uid: 65_534, gid: 65_534 })
  expect(unprivilegedUser('root:x:0:0::/root:/bin/sh\n')).toBeUndefined()
})

test.skipIf(process.getuid?.() !== 0)(
  'root makes a database in a folder that nobody else may enter',
  async () => {
    const closed = mkdtempSync(path.join(tmpdir(), 'closed-'))
    try {
      const settings = { secrets: { postgres: 'own' } } as StackSettings
      await preparePostgres(path.join(closed, 'postgres'), settings, new AbortController().signal)
      expect(existsSync(path.join(dataFolder(path.join(closed, 'postgres')), 'PG_VERSION'))).toBe(true)
    } finally {
      rmSync(closed, { recursive: true })
    }
  },
  60_000,
)
