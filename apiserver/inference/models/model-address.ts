import { isAlias } from '../../../crds/names.ts'
import { isName } from '../../accounts/names.ts'

/** The name by which clients address a model of this service. */
export interface ModelAddress {
  entity: string
  project: string
  name: string
  /** A checkpoint's step. 0 is the model before training, and null is the newest step. */
  step: number | null
  /** A name that a user gave to a step. If it is set, `step` is null. */
  alias: string | null
}

const addressPattern = /^(?:wandb-artifact:\/\/\/)?([^/:]+)\/([^/:]+)\/([^/:]+?)(?::([^/:]+))?$/
// Up to 9 digits: every step number fits into a Postgres integer.
const stepPattern = /^step(0|[1-9]\d{0,8})$/

/**
 * Parses `[wandb-artifact:///]entity/project/name[:stepN|:latest|:ALIAS]`. Undefined for any other text, such as the
 * name of a base model.
 */
export function parseModelAddress(text: string): ModelAddress | undefined {
  const match = addressPattern.exec(text)
  if (!match) return undefined
  const [entity, project, name] = match.slice(1, 4) as [string, string, string]
  if (![entity, project, name].every(isName)) return undefined
  const reference = parseReference(match[4] ?? 'latest')
  return reference && { entity, project, name, ...reference }
}

function parseReference(text: string): Pick<ModelAddress, 'step' | 'alias'> | undefined {
  if (text === 'latest') return { step: null, alias: null }
  const step = stepPattern.exec(text)?.[1]
  if (step !== undefined) return { step: Number(step), alias: null }
  return isAlias(text) ? { step: null, alias: text } : undefined
}
