import { parseArgs } from 'node:util'
import { sizes, type Size } from './sizes.ts'

const serverNames = ['pipe', 'nginx', 'litellm', 'ours'] as const
export type ServerName = (typeof serverNames)[number]

/** The options of the command line. */
export interface GatewayOptions {
  size: Size
  only: readonly ServerName[]
  /** The folder for a profile of our server's processor time. Profiling makes the server slower. */
  profile: string | undefined
  /** The folder of another revision, which is measured as `ours_beside`. */
  beside: string | undefined
}

/** @throws {Error} for an unknown option, and for an invalid value */
export function readOptions(args: string[]): GatewayOptions {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: serverNames.join(',') },
      profile: { type: 'string' },
      beside: { type: 'string' },
    },
  })
  const { profile, beside } = values
  const size = values.quick ? sizes.quick : sizes.full
  const rounds = Number(values.rounds ?? size.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number from 1 on')
  return { size: { ...size, rounds }, only: values.only.split(',').map(readName), profile, beside }
}

function readName(name: string): ServerName {
  const found = serverNames.find((known) => known === name)
  if (!found) throw new Error(`--only ${name}: there is no such server. It must be some of ${serverNames.join(',')}`)
  return found
}
