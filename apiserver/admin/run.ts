import type { Pool } from '../../db/pool.ts'
import { Refusal } from '../refusal.ts'
import { CommandError, type Printed } from './command.ts'
import { prepareGarbageCommand } from './garbage-command.ts'
import { prepareKeyCommand } from './key-command.ts'
import { prepareLimitsCommand } from './limits-command.ts'

const commands = { key: prepareKeyCommand, limits: prepareLimitsCommand, garbage: prepareGarbageCommand }

export type AdminCommand = keyof typeof commands

/**
 * Reads a command of the installation's administrator; what is returned runs it on its database, and prints the answer.
 *
 * @throws {CommandError} (both) a sentence on what to do otherwise
 */
export function prepareAdminCommand(command: string | undefined, args: string[]): (pool: Pool) => Promise<void> {
  if (command === undefined || !Object.hasOwn(commands, command)) {
    throw new CommandError(`usage: node apiserver/admin/main.ts ${Object.keys(commands).join('|')} …`)
  }
  const run = commands[command as AdminCommand](args)
  return async (pool) => print(await run(pool).catch(tellRefusal))
}

function print({ output, note = '' }: Printed): void {
  process.stderr.write(note)
  process.stdout.write(output)
}

function tellRefusal(error: unknown): never {
  throw error instanceof Refusal ? new CommandError(error.message, { cause: error }) : error
}
