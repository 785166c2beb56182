import type { BaseModel } from '../../../crds/generated.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { containerSecurity } from './common.ts'
import { mergeStrategic } from './strategic-merge.ts'

export type PodTemplate = NonNullable<NonNullable<BaseModel['spec']['engine']>['podTemplate']>

interface PodMetadata {
  labels: Record<string, string>
  annotations?: Record<string, string>
}

/** Merges a BaseModel's template into our pod specification. Our limits of rights hold for all of its containers. */
export function overlaySpec(spec: Record<string, unknown>, template: PodTemplate | undefined): Record<string, unknown> {
  if (!template?.spec) return spec
  const merged = mergeStrategic(spec, template.spec)
  const restricted = (['containers', 'initContainers'] as const).flatMap((name) => {
    const list: unknown = merged[name]
    return Array.isArray(list) ? [[name, list.map(restrictContainer)] as const] : []
  })
  return { ...merged, ...Object.fromEntries(restricted) }
}

/** Adds a BaseModel's labels and annotations to ours. Ours stay. */
export function overlayMetadata(metadata: PodMetadata, template: PodTemplate | undefined): PodMetadata {
  const annotations = { ...template?.metadata?.annotations, ...metadata.annotations }
  return {
    labels: { ...template?.metadata?.labels, ...metadata.labels },
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

function restrictContainer(container: unknown): unknown {
  if (!isObject(container)) return container
  const given = isObject(container['securityContext']) ? container['securityContext'] : {}
  return { ...container, securityContext: { ...given, ...containerSecurity } }
}
