import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { backupPaths, readManifest, type Manifest } from '../../operator/backup/backup-folder.ts'
import { restore } from '../../operator/backup/restore.ts'
import { UserError } from '../user-error.ts'
import { installationOf } from './installation.ts'
import { replaceJson } from './json-file.ts'
import { layoutOf } from './layout.ts'
import type { StartRequest } from './prepare.ts'
import type { StackSettings } from './settings.ts'
import { startMachinery } from './start.ts'
import { stopMachinery } from './stop.ts'

/**
 * Makes a new stack with the data and the keys of a backup. It does not run afterwards: `npm run up` starts it.
 *
 * @throws {UserError} if the state folder has a stack
 */
export async function restoreStack(request: StartRequest, folder: string): Promise<Manifest> {
  const { stateFolder } = request
  const layout = layoutOf(stateFolder)
  if (existsSync(layout.settings)) {
    throw new UserError(`There is a stack in ${stateFolder}. Set TRAINYARD_STATE to a new folder.`)
  }
  readManifest(folder)
  try {
    const settings = await startMachinery(request)
    replaceJson(layout.settings, { ...settings, secrets: { ...settings.secrets, ...readKeys(folder) } })
    return await restore(await installationOf(stateFolder, settings), folder)
  } finally {
    await stopMachinery(stateFolder)
  }
}

function readKeys(folder: string): Partial<StackSettings['secrets']> {
  const read = (name: string) => {
    const file = path.join(backupPaths(folder).keys, name)
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  }
  const [engineKey, webhookKey] = [read('engine-key'), read('webhook-key')]
  return { ...(engineKey !== undefined && { engineKey }), ...(webhookKey !== undefined && { webhookKey }) }
}
