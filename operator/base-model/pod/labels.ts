import type { BaseModel } from '../../../crds/generated.ts'
import { apiVersion, labels } from '../../../crds/names.ts'
import type { Component } from '../../component-pods.ts'

const sources = ['hub', 's3', 'pvc', 'path'] as const

/** The labels that select a base model's pods of a component. */
export function selectPods(baseModel: BaseModel, component: Component): Record<string, string> {
  return { [labels.baseModel]: baseModel.metadata.name ?? '', [labels.component]: component }
}

export function describePods(baseModel: BaseModel, component: Component): Record<string, string> {
  return {
    ...selectPods(baseModel, component),
    [labels.source]: nameSource(baseModel),
    'app.kubernetes.io/name': component,
    'app.kubernetes.io/instance': baseModel.metadata.name ?? '',
    'app.kubernetes.io/part-of': 'trainyard',
    'app.kubernetes.io/managed-by': 'trainyard-operator',
  }
}

function nameSource({ spec: { source } }: BaseModel): string {
  return sources.find((name) => source[name] !== undefined) ?? ''
}

export function ownerOf({ metadata }: BaseModel): object {
  return { apiVersion, kind: 'BaseModel', name: metadata.name, uid: metadata.uid, controller: true }
}
