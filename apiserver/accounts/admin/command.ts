import type { Pool } from '../../../db/pool.ts'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { isName, isReservedEntity } from '../names.ts'

/** A mistake in a command that its user can correct. It is printed without a stack trace. */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** Reads a command's arguments: one entity and options. @throws {CommandError} with the usage */
export function readArguments<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  usage: string,
) {
  const { values, positionals } = parseCommandLine(args, options, usage)
  const [entity, ...rest] = positionals
  if (entity === undefined || rest.length > 0) throw new CommandError(usage)
  return { entity, values }
}

function parseCommandLine<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  usage: string,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (cause) {
    throw new CommandError(`${(cause as Error).message}\n${usage}`, { cause })
  }
}

/** @throws {CommandError} if this was never a valid name of an entity */
export function requireEntityName(name: string): void {
  if (!isName(name)) {
    throw new CommandError(
      `"${name}" is not a valid entity name. Use at most 128 letters, digits, dots, dashes and underscores. ` +
        'Begin with a letter or a digit, and do not use two dots in a row.',
    )
  }
}

/** @throws {CommandError} if a new entity cannot have this name */
export function requireEntity(name: string): void {
  requireEntityName(name)
  if (isReservedEntity(name)) throw new CommandError(`"${name}" is reserved; give the entity another name.`)
}

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Converts a duration such as 90s, 15m, 1h or 30d to seconds. @throws {CommandError} */
export function parseDuration(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count === undefined)
    throw new CommandError(`${option} must be a duration such as 90s, 15m, 1h or 30d, not "${text}".`)
  return Number(count) * unitSeconds[unit as keyof typeof unitSeconds]
}

/** What a command prints: output for programs, and a note for people. */
export interface Printed {
  output: string
  note?: string
}

/** A command with parsed arguments. */
export type PreparedCommand = (pool: Pool) => Promise<Printed>
