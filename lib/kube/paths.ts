/** API paths of Kubernetes' own kinds: all of a kind in a namespace, or one by name. */
export function podPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name ? `/${name}` : ''}`
}

export function eventPath(namespace: string): string {
  return `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
}

/** The same Events as the earlier API has them, with a count. Kubelets use it. */
export function countedEventPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/events`
}

export function configMapPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps${name ? `/${name}` : ''}`
}

export function deploymentPath(namespace: string, name?: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments${name ? `/${name}` : ''}`
}

export function jobPath(namespace: string, name?: string): string {
  return `/apis/batch/v1/namespaces/${namespace}/jobs${name ? `/${name}` : ''}`
}

export function servicePath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${namespace}/services${name ? `/${name}` : ''}`
}

export function disruptionBudgetPath(namespace: string, name?: string): string {
  return `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets${name ? `/${name}` : ''}`
}

export function leasePath(namespace: string, name?: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases${name ? `/${name}` : ''}`
}
