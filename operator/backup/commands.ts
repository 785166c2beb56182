import { RestoreError } from '../../db/backup/load.ts'
import { ConfigError } from '../../lib/config.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'

/** The commands by their names. */
export const commands = { backup: backUp, restore }

export type BackupCommand = keyof typeof commands

/** Whether the message of an error tells the user what to do. */
export function isExplained(error: unknown): error is Error {
  return error instanceof RestoreError || error instanceof ConfigError
}
