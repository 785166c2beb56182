import type { JobWarning } from '../../../db/jobs/warnings.ts'
import { countEdits } from '../../../lib/edit-distance.ts'
import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { maxIssues } from '../../../lib/http/validation/compile.ts'
import { enumerateNames } from './enumerate-names.ts'
import { rlConfigSchema, rlSettings, sftConfigSchema, sftSettings } from './generated.ts'
import { pickGiven } from './given.ts'
import { epochAdvice, epochSettings } from './ignored-settings.ts'
import { listUnknown, type SettingNames } from './known-settings.ts'

/** A method's settings, and the member of its job bodies that contains them. */
interface Method {
  member: string
  schema: SettingNames
  known: readonly string[]
  /** Names that can have no effect, each with the reason. */
  refused: ReadonlyMap<string, string>
}

const adapterPath = 'it is a path on another machine: name a step of the model with kl_penalty_reference_step'
const otherMethod = (names: readonly string[], own: readonly string[], reason: string): [string, string][] =>
  names.filter((name) => !own.includes(name)).map((name) => [name, reason])

export const rlMethod: Method = {
  member: 'experimental_config',
  schema: rlConfigSchema,
  known: rlSettings,
  refused: new Map([
    ...otherMethod(sftSettings, rlSettings, 'this is a setting of SFT'),
    ['kl_ref_adapter_path', adapterPath],
  ]),
}
export const sftMethod: Method = {
  member: 'config',
  schema: sftConfigSchema,
  known: sftSettings,
  refused: new Map([
    ...otherMethod(rlSettings, sftSettings, 'this is a setting of RL'),
    ...epochSettings.map((name): [string, string] => [name, epochAdvice]),
  ]),
}

// A job with more unknown names is no job of a later client. To compare all of them could take long.
const maxCompared = 1_000
const maxEdits = 2

/**
 * Rejects names that are most probably misspelt, and those that can have no effect.
 *
 * @throws {HttpError} 422
 */
export function rejectWrongNames(config: object | null | undefined, method: Method): void {
  const unknown = listUnknown(pickGiven(config), method.schema)
  const issues = unknown.slice(0, maxCompared).flatMap((name) => describeIssue(name, method))
  if (issues.length > 0) throw unprocessable(...issues.slice(0, maxIssues))
}

/** Warns of settings that are not known here. A later client sends its own at their defaults, often false. */
export function warnOfUnknownSettings(config: object | null | undefined, { member, schema }: Method): JobWarning[] {
  const given = Object.fromEntries(Object.entries(pickGiven(config)).filter(([, value]) => value !== false))
  const names = listUnknown(given, schema)
  if (names.length === 0) return []
  const what = names.length === 1 ? 'a setting that is' : 'settings that are'
  const message = `${member} has ${what} not known here and had no effect: ${enumerateNames(names)}.`
  return [{ code: 'setting_unknown', message }]
}

function describeIssue(name: string, { member, known, refused }: Method): ValidationIssue[] {
  const reason = refused.get(name) ?? describeTypo(name, known)
  return reason === undefined ? [] : [valueError(['body', member, name], reason)]
}

function describeTypo(name: string, known: readonly string[]): string | undefined {
  const meant = known.find((candidate) => isTypo(name, candidate))
  return meant === undefined ? undefined : `this is not a setting. Did you mean ${meant}?`
}

/**
 * Whether a name is another one with at most two wrong letters, and at most one in three. Other digits make another
 * name: `kimi_k3_tau` is not `kimi_k2_tau`.
 */
function isTypo(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > maxEdits || digitsOf(name) !== digitsOf(known)) return false
  return countEdits(name.toLowerCase(), known) <= Math.min(maxEdits, Math.floor(known.length / 3))
}

function digitsOf(name: string): string {
  return name.replaceAll(/\D/g, '')
}
