import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installPythonEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'

const repository = path.join(import.meta.dirname, '..', '..')

/** The interpreter of an environment with the pinned packages of a folder of test/clients in it. */
export function ensureClientPython(folder: string): Promise<string> {
  return ensurePython(`packages of ${folder}`, path.join(repository, 'test', 'clients', folder))
}

/** The same for a folder of test/bench: what is compared with ours. */
export function ensureBenchPython(folder: string): Promise<string> {
  return ensurePython(`packages of ${folder}`, path.join(repository, 'test', 'bench', folder))
}

/** The interpreter of an environment with what the trainer needs, and with other trainers that it is compared with. */
export function ensurePeersPython(): Promise<string> {
  return ensurePython("the trainer's peers", path.join(repository, 'trainer', 'peers'))
}

/** Makes an environment in the cache if need be, from the requirements.txt of a folder. */
async function ensurePython(what: string, folder: string): Promise<string> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const requirements = path.join(folder, 'requirements.txt')
  const { python } = await installPythonEnvironment(context, { title: `installing ${what}`, requirements })
  return python
}
