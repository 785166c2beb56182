import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { fileGroups } from './file-groups.ts'

const root = path.join(import.meta.dirname, '..', '..', '..')

test('each file or folder of the other machine exists', () => {
  const files = Object.values(fileGroups).flat()
  expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})
