import type { Component } from '../../component-pods.ts'

/** How pods reach the artifact store: as a shared volume, or as a bucket. */
export type PodArtifacts = { volume: Record<string, unknown> } | { s3: S3Artifacts }

export interface S3Artifacts {
  /** `s3://BUCKET[/PREFIX]` */
  address: string
  endpoint?: string | undefined
  region?: string | undefined
  /** The Secrets with the access key of each component. Without one, AWS's default credentials are used. */
  secretNames?: Partial<Record<Component, string | undefined>>
}

export type EnvVar = { name: string; value?: string; valueFrom?: unknown }

const sharedPath = '/artifacts'
const cachePath = '/artifact-cache'

/** The volume of a pod: the store itself, or a cache of fetched files. */
export function artifactsVolume(artifacts: PodArtifacts): { name: string } {
  return { name: 'artifacts', ...('s3' in artifacts ? { emptyDir: {} } : artifacts.volume) }
}

interface Mount {
  name: string
  mountPath: string
  readOnly?: true
}

/** How a container mounts that volume. The store itself can be read-only. */
export function artifactsMount(artifacts: PodArtifacts, { readOnly = false } = {}): Mount {
  if ('s3' in artifacts) return { name: 'artifacts', mountPath: cachePath }
  return { name: 'artifacts', mountPath: sharedPath, ...(readOnly && { readOnly }) }
}

/** The environment variables that tell a trainer or an engine where the store is, and the key with the rights that it needs. */
export function artifactsEnv(component: Component, artifacts: PodArtifacts): EnvVar[] {
  if (!('s3' in artifacts)) return [{ name: 'TRAINYARD_ARTIFACTS', value: sharedPath }]
  const { address, endpoint, region, secretNames = {} } = artifacts.s3
  const secretName = secretNames[component]
  return [
    { name: 'TRAINYARD_ARTIFACTS', value: address },
    { name: 'TRAINYARD_ARTIFACT_CACHE', value: cachePath },
    ...(endpoint ? [{ name: 'TRAINYARD_S3_ENDPOINT', value: endpoint }] : []),
    ...(region ? [{ name: 'TRAINYARD_S3_REGION', value: region }] : []),
    ...(secretName ? credentials(secretName) : []),
  ]
}

function credentials(name: string): EnvVar[] {
  const fromKey = (key: string) => ({ secretKeyRef: { name, key } })
  return [
    { name: 'AWS_ACCESS_KEY_ID', valueFrom: fromKey('access-key-id') },
    { name: 'AWS_SECRET_ACCESS_KEY', valueFrom: fromKey('secret-access-key') },
  ]
}
