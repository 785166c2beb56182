import type { BaseModel } from '../../crds/generated.ts'
import type { Component } from '../component-pods.ts'
import type { EnvVar } from './pod/artifacts.ts'

// trainyard_colocated gives the trainer these variables, without the prefix. The others are common.
const trainerPrefix = 'TRAINER_ENV_'

/** Whether engine and trainer run in one container. Kubernetes gives a GPU to one container only. */
export function isColocated({ spec }: BaseModel): boolean {
  return spec.colocated === true
}

/** The component whose pods have the trainers. */
export function findTrainerComponent(baseModel: BaseModel): Component {
  return isColocated(baseModel) ? 'engine' : 'trainer'
}

export function engineProgram(baseModel: BaseModel): string[] {
  return ['python', '-m', isColocated(baseModel) ? 'trainyard_colocated' : 'trainyard_engine']
}

/** The service account of a component's pods. The status server accepts that of colocated pods as both. */
export function findServiceAccount(component: Component, baseModel: BaseModel): string {
  const defaultName = isColocated(baseModel) ? 'trainyard-colocated' : `trainyard-${component}`
  return baseModel.spec[component]?.serviceAccountName ?? defaultName
}

/** Adds the variables of the trainer that are not the same for the engine. */
export function mergeTrainerEnv(engineEnv: EnvVar[], trainerEnv: EnvVar[]): EnvVar[] {
  const common = new Set(engineEnv.map((variable) => JSON.stringify(variable)))
  const own = trainerEnv.filter((variable) => !common.has(JSON.stringify(variable)))
  return [...engineEnv, ...own.map((variable) => ({ ...variable, name: trainerPrefix + variable.name }))]
}
