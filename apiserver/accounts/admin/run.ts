import { HttpError } from '../../../lib/http/http-error.ts'
import type { Pool } from '../../../db/pool.ts'
import { CommandError, type Printed } from './command.ts'
import { consoleUsage, prepareConsoleCommand } from './console-command.ts'
import { garbageUsage, prepareGarbageCommand } from './garbage-command.ts'
import { keyUsage, prepareKeyCommand } from './key-command.ts'
import { limitsUsage, prepareLimitsCommand } from './limits-command.ts'
import { prepareQueueCommand, queueUsage } from './queue-command.ts'
import { prepareTestCommand, testUsage } from './test-command.ts'

const commands = {
  key: prepareKeyCommand,
  limits: prepareLimitsCommand,
  garbage: prepareGarbageCommand,
  queue: prepareQueueCommand,
  console: prepareConsoleCommand,
  test: prepareTestCommand,
}

const usages = {
  key: keyUsage,
  limits: limitsUsage,
  garbage: garbageUsage,
  queue: queueUsage,
  console: consoleUsage,
  test: testUsage,
}

export type AdminCommand = keyof typeof commands

/** Returns the help of a command if it is requested. This needs no database. */
export function findHelp(command: string | undefined, args: string[]): string | undefined {
  if (!isCommand(command) || !args.some((arg) => arg === '--help' || arg === '-h')) return undefined
  return `${usages[command]}\n`
}

/**
 * Parses an administrator's command. The returned function runs it on a database and prints the answer.
 *
 * @throws {CommandError} (both) a sentence that says what to do
 */
export function prepareAdminCommand(command: string | undefined, args: string[]): (pool: Pool) => Promise<void> {
  if (!isCommand(command)) {
    throw new CommandError(`usage: node apiserver/accounts/admin/main.ts ${Object.keys(commands).join('|')} …`)
  }
  const run = commands[command](args)
  return async (pool) => print(await run(pool).catch(printError))
}

function isCommand(command: string | undefined): command is AdminCommand {
  return command !== undefined && Object.hasOwn(commands, command)
}

function print({ output, note = '' }: Printed): void {
  process.stderr.write(note)
  process.stdout.write(output)
}

function printError(error: unknown): never {
  throw error instanceof HttpError ? new CommandError(error.message, { cause: error }) : error
}
