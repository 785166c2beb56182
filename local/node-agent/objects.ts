import type {
  V1ConfigMap,
  V1Container,
  V1ContainerStatus,
  V1EnvVarSource,
  V1Node,
  V1Pod,
  V1PodCondition,
  V1PodStatus,
  V1Probe,
  V1Secret,
  V1Service,
  V1Volume,
  V1VolumeMount,
  V1VolumeProjection,
} from '@kubernetes/client-node'

/** An object in JSON: the generated types, with times as strings. */
type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T

/** Objects from kube-apiserver always have metadata. */
type WireObject<T extends { metadata?: object }> = Wire<T> & { metadata: NonNullable<Wire<T>['metadata']> }

export type Pod = WireObject<V1Pod>
export type PodStatus = Wire<V1PodStatus>
export type PodCondition = Wire<V1PodCondition>
export type Container = Wire<V1Container>
export type ContainerStatus = Wire<V1ContainerStatus>
export type EnvVarSource = Wire<V1EnvVarSource>
export type Volume = Wire<V1Volume>
export type VolumeMount = Wire<V1VolumeMount>
export type VolumeProjection = Wire<V1VolumeProjection>
export type Probe = Wire<V1Probe>
export type ConfigMap = WireObject<V1ConfigMap>
export type Secret = WireObject<V1Secret>
export type Service = WireObject<V1Service>
export type Node = WireObject<V1Node>
