import { UserError } from '../user-error.ts'
import { layoutOf } from './layout.ts'
import { readSettings, type StackSettings } from './settings.ts'
import { findRunningSupervisor } from './processes/supervisor-record.ts'

/** @throws {UserError} when the stack of this state folder is not up */
export function requireRunning(stateFolder: string): StackSettings {
  const settings = readSettings(stateFolder)
  if (settings && findRunningSupervisor(layoutOf(stateFolder))) return settings
  throw new UserError(`No stack is up in ${stateFolder}. Start it with \`npm run up\`.`)
}
