import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { dataFolder, preparePostgres } from './postgres.ts'
import type { StackSettings } from '../settings.ts'

test.skipIf(process.getuid?.() !== 0)(
  'root can create a database in a folder that other users may not enter',
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

test.skipIf(process.getuid?.() !== 0)(
  'root can create a database whose new files nobody else may read by default',
  async () => {
    const open = mkdtempSync(path.join(tmpdir(), 'open-'))
    chmodSync(open, 0o755)
    const umask = process.umask(0o077)
    try {
      const settings = { secrets: { postgres: 'own' } } as StackSettings
      await preparePostgres(path.join(open, 'postgres'), settings, new AbortController().signal)
      expect(existsSync(path.join(dataFolder(path.join(open, 'postgres')), 'PG_VERSION'))).toBe(true)
    } finally {
      process.umask(umask)
      rmSync(open, { recursive: true })
    }
  },
  60_000,
)
