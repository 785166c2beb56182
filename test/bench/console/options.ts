import { parseArgs } from 'node:util'

/** The options of the command line. */
export interface ConsoleOptions {
  rounds: number
  /** The parts to measure. */
  only: readonly string[]
}

/** @throws {Error} for an unknown option, and for an invalid value */
export function readOptions(args: string[], names: readonly string[]): ConsoleOptions {
  const options = { rounds: { type: 'string', default: '5' }, only: { type: 'string', default: names.join() } } as const
  const { values } = parseArgs({ args, options })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1 on')
  const only = values.only.split(',')
  const unknown = only.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new Error(`--only ${unknown.join()}: it must be some of ${names.join()}`)
  return { rounds, only }
}
