import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPythonOf } from './pythons.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'pyenv-'))
})
afterEach(() => rm(root, { recursive: true }))

/** No Python of the machine has such a minor version. */
const minors = [98, 97, 96]

async function keepPython(version: string): Promise<string> {
  const command = path.join(root, 'versions', version, 'bin', 'python')
  await mkdir(path.dirname(command), { recursive: true })
  await writeFile(command, `#!/bin/sh\necho ${version}\n`)
  await chmod(command, 0o755)
  return command
}

test('the first minor version that pyenv has is found, whatever the search path has', async () => {
  await keepPython('3.95.4')
  await keepPython('3.96.0')
  const command = await keepPython('3.97.2')
  expect(await findPythonOf(minors, { PYENV_ROOT: root })).toEqual({ command, version: '3.97.2' })
})

test('without such a version nothing is found', async () => {
  await keepPython('3.95.4')
  expect(await findPythonOf(minors, { PYENV_ROOT: root })).toBeUndefined()
  expect(await findPythonOf(minors, { PYENV_ROOT: path.join(root, 'none') })).toBeUndefined()
})
