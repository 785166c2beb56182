import { group, plurals, version, type Kind } from './names.ts'

/** The API path of our resources: all of a kind in a namespace, or one by name. */
export function customPath(kind: Kind, namespace: string, name?: string): string {
  return `/apis/${group}/${version}/namespaces/${namespace}/${plurals[kind]}${name ? `/${name}` : ''}`
}
