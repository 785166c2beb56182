import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installPythonEnvironment, type PythonSource } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'
import { UserError } from '../../local/user-error.ts'
import { findNewestPython, isNewest } from './newest-clients.ts'
import { findPythonOf } from './pythons.ts'

const repository = path.join(import.meta.dirname, '..', '..')

/**
 * The minor versions of Python 3 for folders of test/clients whose packages do not have that of the trainer, the best first.
 * ART's newest release needs 3.12.
 */
const minorsOf: Record<string, readonly number[]> = { art: [13, 12, 14], 'art-0.5.18': [11, 12, 13] }

/** The interpreter of an environment with the pinned packages of a folder of test/clients, or with their newest releases. */
export async function ensureClientPython(folder: string): Promise<string> {
  const newest = findNewestPython(folder)
  if (newest !== undefined) return newest
  const minors = minorsOf[folder]
  const python = minors && (await findPythonOf(minors))
  if (minors && !python) throw new UserError(`Python 3.${minors.join(', 3.')} is missing for test/clients/${folder}`)
  const source = { title: `installing packages of ${folder}`, ...(python ? { python } : {}) }
  return ensurePython(path.join(repository, 'test', 'clients', folder), source)
}

/** The folders of test/clients with releases of ART that this machine has a Python for, the newest first. */
export async function listArtFolders(): Promise<string[]> {
  if (isNewest()) return Object.keys(minorsOf).filter((folder) => findNewestPython(folder) !== undefined)
  const folders = Object.entries(minorsOf)
  const found = await Promise.all(folders.map(async ([folder, minors]) => (await findPythonOf(minors)) && folder))
  return found.filter((folder) => folder !== undefined)
}

/** The same for a folder of test/bench, which pins the compared servers. */
export function ensureBenchPython(folder: string): Promise<string> {
  return ensurePython(path.join(repository, 'test', 'bench', folder), { title: `installing packages of ${folder}` })
}

/** Variables that keep the peers off the network. */
export const peersEnv = { HF_HUB_OFFLINE: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True', WANDB_API_KEY: undefined }

/** The interpreter of an environment with the trainer's packages, and with other trainers for comparison. */
export async function ensurePeersPython(): Promise<string> {
  const python = await findPythonOf(minorsOf['art']!)
  if (!python) throw new UserError('Python 3.12 or newer is missing for the ART that the trainer is compared with')
  return ensurePython(path.join(repository, 'trainer', 'peers'), { title: "installing the trainer's peers", python })
}

/** Creates the environment of a folder's requirements.txt in the cache, unless it exists. */
async function ensurePython(folder: string, source: Omit<PythonSource, 'requirements'>): Promise<string> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const requirements = path.join(folder, 'requirements.txt')
  const { python } = await installPythonEnvironment(context, { ...source, requirements })
  return python
}
