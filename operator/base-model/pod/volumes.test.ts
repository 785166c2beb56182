import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writableFolders } from './volumes.ts'

test('docs/base-models.md has a row for each folder that engines and trainers may write to, and for no other', () => {
  const page = readFileSync(new URL('../../../docs/base-models.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\/[^`]*)` \| `([^`]*)` \|/gm)].map(([, path, name]) => ({ path, name }))
  expect(rows).toEqual(writableFolders.map(({ path, name }) => ({ path, name })))
})
