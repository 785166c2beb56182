import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { findExecutable } from '../../local/install/find-programs.ts'
import { probePython, type Python } from '../../local/install/python.ts'

/**
 * Finds a Python of the first of these minor versions that is installed: in the search path, or one of pyenv, which has
 * only chosen ones in the search path.
 */
export async function findPythonOf(minors: readonly number[], env = process.env): Promise<Python | undefined> {
  const { signal } = new AbortController()
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter(Boolean)
  const kept = await listPyenvPythons(env['PYENV_ROOT'] ?? path.join(homedir(), '.pyenv'))
  for (const minor of minors)
    for (const command of [await findExecutable(`python3.${minor}`, folders), ...kept]) {
      const found = command && (await probePython(command, signal, [minor]))
      if (typeof found === 'object') return found
    }
  return undefined
}

async function listPyenvPythons(root: string): Promise<string[]> {
  const folder = path.join(root, 'versions')
  const versions = await readdir(folder).catch(() => [])
  return versions.map((version) => path.join(folder, version, 'bin', 'python'))
}
