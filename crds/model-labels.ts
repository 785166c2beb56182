import { createHash } from 'node:crypto'
import { labels } from './names.ts'

/** A model as the labels of its resources name it. */
export interface LabelledModel {
  entity: string
  project: string
  name: string
  /** metadata.name of its BaseModel; undefined if that is not known. */
  baseModelCrName: string | undefined
}

const validLabel = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const hashPrefix = 'sha256-'

/** The labels of a Model, and of the TrainingJobs of the model, for label selectors. */
export function buildModelLabels({ entity, project, name, baseModelCrName }: LabelledModel): Record<string, string> {
  return {
    [labels.entity]: labelValue(entity),
    [labels.project]: labelValue(project),
    [labels.model]: labelValue(name),
    ...(baseModelCrName !== undefined && { [labels.baseModel]: labelValue(baseModelCrName) }),
  }
}

/**
 * A text as the value of a label: the text itself if Kubernetes allows that, else `sha256-` and the first 40 hex digits
 * of its SHA-256. A text that looks like such a hash is hashed too, so that no name can pretend to be another one.
 */
export function labelValue(text: string): string {
  if (validLabel.test(text) && !text.startsWith(hashPrefix)) return text
  return hashPrefix + createHash('sha256').update(text).digest('hex').slice(0, 40)
}
