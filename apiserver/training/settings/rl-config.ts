import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import type { Static } from 'typebox'
import { rlAliases, type rlConfigSchema } from './generated.ts'
import { pickGiven } from './given.ts'

export type RlConfig = Static<typeof rlConfigSchema>

/** The settings that were given, under their wire names. */
export function pickGivenConfig(config: RlConfig | null | undefined): Record<string, unknown> {
  const given = pickGiven(config)
  for (const [alias, name] of Object.entries(rlAliases)) {
    const { [alias]: value } = given
    delete given[alias]
    if (value !== undefined) given[name] ??= value
  }
  return given
}

/** @throws {HttpError} 422 for settings that contradict each other; the schema cannot express this */
export function requirePossibleConfig(config: RlConfig | null | undefined): void {
  const given = pickGiven(config)
  for (const [alias, name] of Object.entries(rlAliases)) {
    if (given[alias] === undefined || given[name] === undefined || given[alias] === given[name]) continue
    const reason = `this is another name of ${name}, and the two values differ`
    throw unprocessable(valueError(['body', 'experimental_config', alias], reason))
  }
}
