import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installPythonEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'

/**
 * The interpreter of an environment with the pinned packages of a folder of test/clients in it, made in the cache if
 * need be.
 */
export async function ensureClientPython(folder: string): Promise<string> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const requirements = path.join(import.meta.dirname, '..', 'clients', folder, 'requirements.txt')
  const { python } = await installPythonEnvironment(context, {
    title: `installing packages of ${folder}`,
    requirements,
  })
  return python
}
