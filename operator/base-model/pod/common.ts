import type { BaseModel } from '../../../crds/generated.ts'
import type { Component } from '../../component-pods.ts'
import { addRequests } from './default-resources.ts'
import { findServiceAccount, isColocated } from '../colocation.ts'
import { countGpus } from './gpus.ts'
import { sourceMounts, sourceVolumes } from './model-source.ts'
import { artifactsMount, artifactsVolume, type PodArtifacts } from './artifacts.ts'
import { describeCache, type CacheVolume } from './cache.ts'
import { writableMounts, writableVolumes } from './volumes.ts'

/** The image of each component, for processors and for GPUs. */
export type PodImages = Record<Component, { cpu: string; cuda: string }>

/** The operator's settings that all pods share. */
export interface PodSettings {
  images: PodImages
  /** When nodes pull images, unless a base model says it. */
  pullPolicy: ImagePullPolicy
  /** The keys that engines take, the current one first. Their pods have them from the Secret. */
  engineKeys: readonly string[]
  artifacts: PodArtifacts
  /** Listen only on the pod's own address, for pods that share a network. */
  listenOnPodIp: boolean
  /** Names of Secrets for the registries of the images. */
  pullSecrets?: string[]
  /** The security context of pods. By default, what the Pod Security Standard "restricted" asks for, without a user. */
  podSecurityContext?: Record<string, unknown>
  /** The cache of base models that name none. */
  cache?: CacheVolume
  /** Digests of the installation's Secrets that each component reads at its start. Other contents need other pods. */
  secretDigests?: Record<Component, string>
}

type ImagePullPolicy = NonNullable<ContainerSpec['imagePullPolicy']>
type ContainerSpec = Pick<NonNullable<BaseModel['spec']['engine']>, 'image' | 'imagePullPolicy' | 'resources'>

/** No container gets more rights than its image's user has. */
export const containerSecurity = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

const defaultPodSecurity = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }

/** The cache of a component's pods: the base model's, else the installation's. */
export function findCache(component: Component, { spec }: BaseModel, { cache }: PodSettings) {
  return describeCache(component, spec.cache ?? cache)
}

/** What the pod specifications of engines and trainers share. */
export function commonPodSpec(component: Component, baseModel: BaseModel, settings: PodSettings) {
  const { imagePullSecrets = [], scheduling = {} } = baseModel.spec
  const names = [...(settings.pullSecrets ?? []), ...imagePullSecrets.map(({ name }) => name)]
  const pullSecrets = [...new Set(names)].map((name) => ({ name }))
  return {
    serviceAccountName: findServiceAccount(component, baseModel),
    automountServiceAccountToken: false,
    ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets }),
    ...scheduling,
    securityContext: settings.podSecurityContext ?? defaultPodSecurity,
    volumes: [
      artifactsVolume(settings.artifacts),
      ...writableVolumes,
      ...sourceVolumes(baseModel),
      ...findCache(component, baseModel, settings).volumes,
    ],
  }
}

/** The mounts of an engine or a trainer. An engine alone reads checkpoints of all tenants and changes none. */
function commonMounts(component: Component, baseModel: BaseModel, settings: PodSettings) {
  return [
    artifactsMount(settings.artifacts, { readOnly: component === 'engine' && !isColocated(baseModel) }),
    ...writableMounts,
    ...sourceMounts(baseModel),
    ...findCache(component, baseModel, settings).mounts,
  ]
}

/** What the containers of engines and trainers share. */
export function commonContainer(component: Component, baseModel: BaseModel, settings: PodSettings) {
  const { image, imagePullPolicy, resources }: ContainerSpec = baseModel.spec[component] ?? {}
  return {
    name: component,
    image: image ?? settings.images[component][countGpus(resources) === undefined ? 'cpu' : 'cuda'],
    imagePullPolicy: imagePullPolicy ?? settings.pullPolicy,
    resources: addRequests(isColocated(baseModel) ? ['engine', 'trainer'] : [component], resources),
    securityContext: { ...containerSecurity, readOnlyRootFilesystem: true },
    // After a crash without a message, the last lines of the log become the message.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: commonMounts(component, baseModel, settings),
  }
}
