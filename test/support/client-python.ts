import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installPythonEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'

const repository = path.join(import.meta.dirname, '..', '..')

/** The interpreter of an environment with the pinned packages of a folder of test/clients. */
export function ensureClientPython(folder: string): Promise<string> {
  return ensurePython(`packages of ${folder}`, path.join(repository, 'test', 'clients', folder))
}

/** The same for a folder of test/bench, which pins the compared servers. */
export function ensureBenchPython(folder: string): Promise<string> {
  return ensurePython(`packages of ${folder}`, path.join(repository, 'test', 'bench', folder))
}

/** Variables that keep the peers off the network. */
export const peersEnv = { HF_HUB_OFFLINE: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True', WANDB_API_KEY: undefined }

/** The interpreter of an environment with the trainer's packages, and with other trainers for comparison. */
export function ensurePeersPython(): Promise<string> {
  return ensurePython("the trainer's peers", path.join(repository, 'trainer', 'peers'))
}

/** Creates the environment of a folder's requirements.txt in the cache, unless it exists. */
async function ensurePython(what: string, folder: string): Promise<string> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const requirements = path.join(folder, 'requirements.txt')
  const { python } = await installPythonEnvironment(context, { title: `installing ${what}`, requirements })
  return python
}
