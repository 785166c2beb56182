import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import type { Static } from 'typebox'
import { rlAliases, rlConfigSchema } from './generated.ts'
import { omitNulls } from './omit-nulls.ts'
import { pickKnown } from './known-settings.ts'
import { rejectWrongNames } from './unknown-settings.ts'

export type RlConfig = Static<typeof rlConfigSchema>

/** The known settings that were given, under their wire names. */
export function pickGivenConfig(config: RlConfig | null | undefined): Record<string, unknown> {
  const given = pickKnown(omitNulls(config), rlConfigSchema)
  for (const [alias, name] of Object.entries(rlAliases)) {
    const { [alias]: value } = given
    delete given[alias]
    if (value !== undefined) given[name] ??= value
  }
  return given
}

/** Whether the settings about the reference have an effect. */
export function hasPenalty(config: RlConfig | null | undefined): boolean {
  return (config?.kl_penalty_coef ?? 0) > 0
}

/** @throws {HttpError} 422 for wrong names, and for settings that contradict each other; the schema cannot express this */
export function requirePossibleConfig(config: RlConfig | null | undefined): void {
  rejectWrongNames(config, 'RL')
  const given: RlConfig = omitNulls(config)
  const issues = [...contradictAliases(given), ...contradictLoss(given), ...nameTwoReferences(given)]
  if (issues.length > 0) {
    throw unprocessable(...issues.map(([name, reason]) => valueError(['body', 'experimental_config', name], reason)))
  }
}

type Issue = [name: keyof RlConfig, reason: string]

function contradictAliases(given: RlConfig): Issue[] {
  return Object.entries(rlAliases).flatMap(([alias, name]): Issue[] => {
    const [value, other] = [given[alias as keyof typeof rlAliases], given[name]]
    if (value === undefined || other === undefined || value === other) return []
    return [[alias as keyof typeof rlAliases, `this is another name of ${name}, and the two values differ`]]
  })
}

function contradictLoss({ loss_fn: loss, ppo }: RlConfig): Issue[] {
  if (loss === undefined || ppo === undefined || (loss === 'ppo') === ppo) return []
  return [['loss_fn', `loss_fn is ${loss}, but ppo is ${ppo}: send one of them, or the same in both`]]
}

function nameTwoReferences({ kl_penalty_step_lag: lag, kl_penalty_reference_step: step }: RlConfig): Issue[] {
  if (lag === undefined || step === undefined) return []
  return [['kl_penalty_step_lag', 'kl_penalty_reference_step names the reference already: send one of them']]
}
