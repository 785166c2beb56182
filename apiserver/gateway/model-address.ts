import { isName } from '../training/names.ts'

/** What a client calls a model that was made here. */
export interface ModelAddress {
  entity: string
  project: string
  name: string
  /** A checkpoint's step, 0 for the model before any training, null for the newest. */
  step: number | null
}

// Up to 9 digits: every step number fits into a Postgres integer.
const addressPattern = /^(?:wandb-artifact:\/\/\/)?([^/:]+)\/([^/:]+)\/([^/:]+?)(?::(?:latest|step(0|[1-9]\d{0,8})))?$/

/**
 * Reads `[wandb-artifact:///]entity/project/name[:stepN|:latest]`; undefined for any other text, such as the name of a
 * base model.
 */
export function parseModelAddress(text: string): ModelAddress | undefined {
  const match = addressPattern.exec(text)
  if (!match) return undefined
  const [entity, project, name] = match.slice(1, 4) as [string, string, string]
  if (![entity, project, name].every(isName)) return undefined
  return { entity, project, name, step: match[4] === undefined ? null : Number(match[4]) }
}
