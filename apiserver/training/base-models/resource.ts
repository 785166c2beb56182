import { createHash } from 'node:crypto'
import type { BaseModel } from '../../../crds/generated.ts'
import { labelValue } from '../../../crds/model-labels.ts'
import { apiVersion, labels, madeFromDefaults, slugOf } from '../../../crds/names.ts'
import type { TrainedOn } from '../../../crds/trained-on.ts'
import type { BaseModelDefaults } from './defaults.ts'

// With a hyphen and the digits of a hash: the maximum of a BaseModel's name, 40 characters.
const maxSlugLength = 27
const hashLength = 12

/** A base model that is to be made, and for whom. */
export interface WantedBaseModel {
  /** Its id on the hub. */
  name: string
  namespace: string
  /** The entity that asked first. */
  entity: string
  revision: string
  /** Present if models were trained on an earlier base model of this name. */
  lora: TrainedOn['lora'] | undefined
}

/** The metadata.name of the BaseModel of a hub id. The same id always has the same name. */
export function nameResource(id: string): string {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, hashLength)
  return `${slugOf(id, maxSlugLength)}-${hash}`
}

/** Builds a BaseModel from the administrator's defaults. It never runs code of the model's repository. */
export function buildBaseModel(wanted: WantedBaseModel, { baseModel: template }: BaseModelDefaults): BaseModel {
  const { name, namespace, entity, revision, lora } = wanted
  return {
    apiVersion,
    kind: 'BaseModel',
    metadata: {
      name: nameResource(name),
      namespace,
      labels: { [labels.madeFrom]: madeFromDefaults, [labels.entity]: labelValue(entity) },
    },
    spec: {
      ...template,
      ...(lora && { lora }),
      names: [name],
      source: { hub: { id: name, revision }, trustRemoteCode: false },
    },
  }
}
