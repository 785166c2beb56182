import { group, plurals, version, type Kind } from '../../crds/names.ts'

const base = `/apis/${group}/${version}`

/** The API path of our own resources: all of a kind in a namespace, or one by name. */
export function customPath(kind: Kind, namespace: string, name?: string): string {
  return `${base}/namespaces/${namespace}/${plurals[kind]}${name ? `/${name}` : ''}`
}

export function podPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name ? `/${name}` : ''}`
}

export function eventPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/events`
}

export function deploymentPath(namespace: string, name?: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments${name ? `/${name}` : ''}`
}

export function leasePath(namespace: string, name?: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases${name ? `/${name}` : ''}`
}
