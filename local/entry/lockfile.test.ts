import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

interface Lockfile {
  packages: Record<string, { optionalDependencies?: Record<string, string> }>
}

const repository = path.join(import.meta.dirname, '..', '..')

// `npm install` omits a package that its registry does not have at that time. `npm ci` then rejects the file.
test('the lockfile has every optional dependency, for other platforms too', () => {
  const { packages } = JSON.parse(readFileSync(path.join(repository, 'package-lock.json'), 'utf8')) as Lockfile
  const missing = Object.entries(packages).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`${folder}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  )
  expect(missing).toEqual([])
})
