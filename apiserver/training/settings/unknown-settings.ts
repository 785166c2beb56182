import { isRowsMethod, methodNames, methods, type Method } from '../../../crds/methods.ts'
import type { JobWarning } from '../../../db/jobs/warnings.ts'
import { countEdits } from '../../../lib/edit-distance.ts'
import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { maxIssues } from '../../../lib/http/validation/compile.ts'
import { enumerateNames } from './enumerate-names.ts'
import { configSchemas, settingNames } from './generated.ts'
import { omitNulls } from './omit-nulls.ts'
import { adviseEpochs, epochSettings } from './ignored-settings.ts'
import { listUnknown } from './known-settings.ts'

const adapterPath = 'it is a path on another machine: name a step of the model with kl_penalty_reference_step'

/** Names that can have no effect, each with the reason. */
function listRefused(method: Method): ReadonlyMap<string, string> {
  const foreign = methodNames.flatMap((other) =>
    settingNames[other].map((name): [string, string] => [name, `this is a setting of ${other}`]),
  )
  return new Map([
    ...foreign.filter(([name]) => !settingNames[method].includes(name)),
    ...(isRowsMethod(method) ? epochSettings.map((name): [string, string] => [name, adviseEpochs(method)]) : []),
    ...(method === 'RL' ? [['kl_ref_adapter_path', adapterPath] as const] : []),
  ])
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
  const unknown = listUnknown(omitNulls(config), configSchemas[method])
  const refused = listRefused(method)
  const issues = unknown.slice(0, maxCompared).flatMap((name) => {
    const reason = refused.get(name) ?? describeTypo(name, settingNames[method])
    return reason === undefined ? [] : [valueError(['body', methods[method].settingsIn, name], reason)]
  })
  if (issues.length > 0) throw unprocessable(...issues.slice(0, maxIssues))
}

/** Warns of settings that are not known here. A later client sends its own at their defaults, often false. */
export function warnOfUnknownSettings(config: object | null | undefined, method: Method): JobWarning[] {
  const given = Object.fromEntries(Object.entries(omitNulls(config)).filter(([, value]) => value !== false))
  const names = listUnknown(given, configSchemas[method])
  if (names.length === 0) return []
  const what = names.length === 1 ? 'a setting that is' : 'settings that are'
  const message = `${methods[method].settingsIn} has ${what} not known here and had no effect: ${enumerateNames(names)}.`
  return [{ code: 'setting_unknown', message }]
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
