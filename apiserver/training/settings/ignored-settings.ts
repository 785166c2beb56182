import { methodNames, type Method } from '../../../crds/methods.ts'
import type { JobWarning } from '../../../db/jobs/warnings.ts'
import { enumerateNames } from './enumerate-names.ts'
import { settingNames } from './generated.ts'

// Other trainers use these names.
export const epochSettings = ['epochs', 'n_epochs', 'num_epochs', 'num_train_epochs']
export const adviseEpochs = (method: Method) => `${method} goes through its data once. Repeat the rows instead.`

interface Reason {
  names: readonly string[]
  explain: (it: string, them: string) => string
}

const listReasons = (method: Method): Reason[] => [
  { names: settingNames[method], explain: (_, them) => `${method} reads ${them} from config.` },
  { names: epochSettings, explain: () => adviseEpochs(method) },
  ...methodNames.map((other) => ({
    names: settingNames[other].filter((name) => !settingNames[method].includes(name)),
    explain: (it: string) => `${it} of ${other} that ${method} does not have.`,
  })),
]

/**
 * Warns of known settings in the `experimental_config` of a job on rows that are read from elsewhere, or not at all. Other
 * members are the client's own.
 */
export function warnOfIgnoredSettings(
  config: Record<string, unknown> | null | undefined,
  method: Method,
): JobWarning[] {
  const given = Object.keys(config ?? {}).filter((name) => config?.[name] != null)
  return listReasons(method).flatMap(({ names, explain }) => {
    const found = given.filter((name) => names.includes(name))
    if (found.length === 0) return []
    const [were, it, them] =
      found.length === 1 ? ['was', 'it is a setting', 'it'] : ['were', 'they are settings', 'them']
    const message = `${enumerateNames(found)} in experimental_config ${were} ignored: ${explain(it, them)}`
    return [{ code: 'setting_ignored', message }]
  })
}
