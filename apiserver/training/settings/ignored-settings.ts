import type { JobWarning } from '../../../db/jobs/warnings.ts'
import { enumerateNames } from './enumerate-names.ts'
import { rlSettings, sftSettings } from './generated.ts'

// Other trainers use these names.
export const epochSettings = ['epochs', 'n_epochs', 'num_epochs', 'num_train_epochs']
export const epochAdvice = 'SFT goes through its data once. Repeat the rows instead.'

const reasons: { names: readonly string[]; tell: (it: string, them: string) => string }[] = [
  { names: sftSettings, tell: (_, them) => `SFT reads ${them} from config.` },
  { names: epochSettings, tell: () => epochAdvice },
  {
    names: rlSettings.filter((name) => !sftSettings.includes(name)),
    tell: (it) => `${it} that SFT does not have.`,
  },
]

/**
 * Warns of known settings in an SFT job's `experimental_config` that are read from elsewhere, or not at all. Other
 * members are the client's own.
 */
export function warnOfIgnoredSettings(config: Record<string, unknown> | null | undefined): JobWarning[] {
  const given = Object.keys(config ?? {}).filter((name) => config?.[name] != null)
  return reasons.flatMap(({ names, tell }) => {
    const found = given.filter((name) => names.includes(name))
    if (found.length === 0) return []
    const [were, it, them] =
      found.length === 1 ? ['was', 'it is an RL setting', 'it'] : ['were', 'they are RL settings', 'them']
    const message = `${enumerateNames(found)} in experimental_config ${were} ignored: ${tell(it, them)}`
    return [{ code: 'setting_ignored', message }]
  })
}
