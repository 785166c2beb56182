import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installPythonEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'

/** The interpreter of an environment with the real openpipe-art in it, made in the cache if need be. */
export async function ensureArtPython(): Promise<string> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const requirements = path.join(import.meta.dirname, '..', 'clients', 'art', 'requirements.txt')
  const { python } = await installPythonEnvironment(context, { title: 'installing openpipe-art', requirements })
  return python
}
