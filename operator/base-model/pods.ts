import { colocatedTrainerMetricsPort, enginePort, metricsPort } from '../../crds/engine-address.ts'
import type { BaseModel } from '../../crds/generated.ts'
import { readMaxLoraRank } from '../../crds/max-lora-rank.ts'
import { labels } from '../../crds/names.ts'
import type { KubeObject } from '../../lib/kube/apply.ts'
import type { Component } from '../component-pods.ts'
import { engineProgram, isColocated, mergeTrainerEnv } from './colocation.ts'
import { commonContainer, commonPodSpec, findCache, type PodSettings } from './common-pod.ts'
import { mergeEnv, optionalEnv } from './env-vars.ts'
import { engineProbes } from './engine-probes.ts'
import { describeFailures, type TrainerFailures } from './failed-trainers.ts'
import { allocatorEnv, countGpus, parallelArgs, requestGpus } from './gpus.ts'
import { hashOf } from './hash.ts'
import { sourceEnv } from './model-source.ts'
import { artifactsEnv, type EnvVar } from './pod-artifacts.ts'
import { describePods, ownerOf } from './pod-labels.ts'
import { overlayMetadata, overlaySpec } from './pod-template.ts'
import { homeEnv, readyFile } from './pod-volumes.ts'
import { statusServerEnv, statusToken, statusTokenMount } from './status-server.ts'
import { limitsEnv, trainerCommand, trainerGraceSeconds, trainerReadinessProbe } from './trainer-process.ts'

// An engine finishes its responses before it ends. Gateways hold new requests for longer than that.
const engineDrainSeconds = 300
// vLLM needs this time to end after the last response.
const engineEndSeconds = 30
const engineGraceSeconds = engineDrainSeconds + engineEndSeconds
// In this time, gateways learn that the pod takes no more requests.
const noticeSeconds = 1

/** The hash in the labels of current engine pods. Other keys need other pods: an engine reads its keys at its start. */
export function engineHash(baseModel: BaseModel, settings: PodSettings): string {
  const metadata = baseModel.spec.engine?.podTemplate?.metadata
  const spec = buildEnginePodSpec(baseModel, settings)
  const secrets = findSecrets(isColocated(baseModel) ? ['engine', 'trainer'] : ['engine'], settings)
  return hashOf({ spec, keys: settings.engineKeys, ...(metadata && { metadata }), ...secrets })
}

/** The Secrets of a pod, for its hash. It has them by name only. */
function findSecrets(components: Component[], { secretDigests }: PodSettings): { secrets?: string[] } {
  const secrets = components.map((component) => secretDigests?.[component] ?? '').filter((digest) => digest !== '')
  return secrets.length > 0 ? { secrets } : {}
}

/** The specification of a base model's engine pods. */
export function buildEnginePodSpec(baseModel: BaseModel, settings: PodSettings): Record<string, unknown> {
  const { engine = {} } = baseModel.spec
  const args = engineArgs(baseModel)
  const common = commonPodSpec('engine', baseModel, settings)
  const container = commonContainer('engine', baseModel, settings)
  const spec = {
    ...common,
    volumes: [...common.volumes, statusToken],
    terminationGracePeriodSeconds: engineGraceSeconds + (isColocated(baseModel) ? trainerGraceSeconds : 0),
    containers: [
      {
        ...container,
        command: engineProgram(baseModel),
        ...(args.length > 0 && { args }),
        ports: [
          { name: 'http', containerPort: enginePort },
          { name: 'metrics', containerPort: metricsPort },
          ...(isColocated(baseModel) ? [{ name: 'trainer-metrics', containerPort: colocatedTrainerMetricsPort }] : []),
        ],
        volumeMounts: [...container.volumeMounts, statusTokenMount],
        env: containerEnv(baseModel, settings),
        lifecycle: { preStop: { sleep: { seconds: noticeSeconds } } },
        ...engineProbes,
      },
    ],
  }
  return overlaySpec(spec, engine.podTemplate)
}

function containerEnv(baseModel: BaseModel, settings: PodSettings): EnvVar[] {
  const { engine = {} } = baseModel.spec
  const engineVars = mergeEnv(engineEnv(baseModel, settings), engine.env)
  return isColocated(baseModel) ? mergeTrainerEnv(engineVars, colocatedTrainerEnv(baseModel, settings)) : engineVars
}

/** The trainer has the resources of the engine. No probe asks for its file. */
function colocatedTrainerEnv(baseModel: BaseModel, settings: PodSettings): EnvVar[] {
  const { resources } = baseModel.spec.engine ?? {}
  const trainer = { ...baseModel.spec.trainer, ...(resources && { resources }) }
  const ours = trainerEnv({ ...baseModel, spec: { ...baseModel.spec, trainer } }, settings)
  const used = ours.filter(({ value }) => value !== readyFile)
  return mergeEnv([...used, ...allocatorEnv(resources)], trainer.env)
}

function engineArgs({ spec: { source, engine = {} } }: BaseModel): string[] {
  const own = engine.args ?? []
  return [...(source.trustRemoteCode ? ['--trust-remote-code'] : []), ...parallelArgs(engine.resources, own), ...own]
}

function engineEnv(baseModel: BaseModel, settings: PodSettings): EnvVar[] {
  const { names, engine = {}, lora = {}, trainer = {} } = baseModel.spec
  const timePercent = isColocated(baseModel) ? trainer.timeSharePercent : undefined
  return [
    homeEnv,
    hostEnv(settings),
    { name: 'TRAINYARD_PORT', value: String(enginePort) },
    metricsEnv(metricsPort),
    { name: 'TRAINYARD_DRAIN_SECONDS', value: String(engineDrainSeconds) },
    ...statusServerEnv(baseModel, settings),
    ...sourceEnv(baseModel),
    loraEnv(baseModel),
    ...optionalEnv('TRAINYARD_GPUS', countGpus(engine.resources)),
    { name: 'TRAINYARD_MODEL_NAMES', value: names.join(',') },
    ...artifactsEnv('engine', settings.artifacts),
    { name: 'VLLM_API_KEY', valueFrom: { secretKeyRef: { name: 'trainyard-secrets', key: 'engine-key' } } },
    {
      name: 'TRAINYARD_PREVIOUS_ENGINE_KEY',
      valueFrom: { secretKeyRef: { name: 'trainyard-secrets', key: 'previous-engine-key', optional: true } },
    },
    ...optionalEnv('TRAINYARD_MAX_LORAS', engine.maxLoras),
    ...optionalEnv('TRAINYARD_MAX_CPU_LORAS', engine.maxCpuLoras),
    { name: 'TRAINYARD_MAX_LORA_RANK', value: String(readMaxLoraRank({ engine, lora })) },
    ...optionalEnv('TRAINYARD_MAX_MODEL_LEN', engine.maxModelLen),
    ...optionalEnv('TRAINYARD_TOOL_CALL_PARSER', engine.toolCallParser),
    ...optionalEnv('TRAINYARD_REASONING_PARSER', engine.reasoningParser),
    ...optionalEnv('TRAINYARD_TRAINER_TIME_PERCENT', timePercent),
    ...findCache('engine', baseModel, settings).env,
  ]
}

function metricsEnv(port: number): EnvVar {
  return { name: 'TRAINYARD_METRICS_PORT', value: String(port) }
}

/** Where the pods listen. */
function hostEnv({ listenOnPodIp }: PodSettings): EnvVar {
  const fieldRef = { fieldPath: 'status.podIP' }
  return { name: 'TRAINYARD_HOST', ...(listenOnPodIp ? { valueFrom: { fieldRef } } : { value: '0.0.0.0' }) }
}

interface TrainerName {
  name: string
  /** Of the pods whose place it takes. */
  failures?: TrainerFailures
}

/** A warm trainer of a base model. Its name contains the hash of its specification. */
export function buildTrainerPod(
  baseModel: BaseModel,
  settings: PodSettings,
  { name, failures }: TrainerName,
): KubeObject {
  const podLabels = { ...describePods(baseModel, 'trainer'), [labels.specHash]: trainerHash(baseModel, settings) }
  const metadata = { labels: podLabels, ...(failures && { annotations: describeFailures(failures) }) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: baseModel.metadata.namespace,
      ...overlayMetadata(metadata, baseModel.spec.trainer?.podTemplate),
      ownerReferences: [ownerOf(baseModel)],
    },
    spec: buildTrainerPodSpec(baseModel, settings),
  } as KubeObject
}

/** The one job of a trainer that has a pod for it alone. */
interface OnlyJob {
  id: string
  /** Of the job's pods. */
  labels: Record<string, string>
  annotations: Record<string, string>
  /** Null for that of the base model's trainers. */
  priorityClassName: string | null
}

/** The template of a job's own pods: a trainer as the warm ones, which ends with its job. A new pod continues it. */
export function buildJobPodTemplate(baseModel: BaseModel, settings: PodSettings, job: OnlyJob) {
  const metadata = { labels: { ...describePods(baseModel, 'trainer'), ...job.labels }, annotations: job.annotations }
  const { priorityClassName } = job
  return {
    metadata: overlayMetadata(metadata, baseModel.spec.trainer?.podTemplate),
    spec: {
      ...buildTrainerPodSpec(baseModel, settings, job),
      restartPolicy: 'Never',
      ...(priorityClassName !== null && { priorityClassName }),
    },
  }
}

/** The hash in the labels of current trainer pods. */
export function trainerHash(baseModel: BaseModel, settings: PodSettings): string {
  const spec = buildTrainerPodSpec(baseModel, settings)
  const metadata = baseModel.spec.trainer?.podTemplate?.metadata
  const others = { ...(metadata && { metadata }), ...findSecrets(['trainer'], settings) }
  return hashOf(Object.keys(others).length > 0 ? { spec, ...others } : spec)
}

function buildTrainerPodSpec(
  baseModel: BaseModel,
  settings: PodSettings,
  job?: Pick<OnlyJob, 'id'>,
): Record<string, unknown> {
  const given = baseModel.spec.trainer ?? {}
  const trainer = { ...given, ...requestGpus(given) }
  const common = commonPodSpec('trainer', baseModel, settings)
  const container = commonContainer('trainer', { ...baseModel, spec: { ...baseModel.spec, trainer } }, settings)
  const spec = {
    ...common,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: trainerGraceSeconds,
    volumes: [...common.volumes, statusToken],
    containers: [
      {
        ...container,
        command: trainerCommand(trainer.gpus ?? 1),
        ports: [{ name: 'metrics', containerPort: metricsPort }],
        env: [
          ...mergeEnv([...trainerEnv(baseModel, settings), ...allocatorEnv(trainer.resources)], trainer.env),
          ...optionalEnv('TRAINYARD_JOB_ID', job?.id),
        ],
        volumeMounts: [...container.volumeMounts, statusTokenMount],
        readinessProbe: trainerReadinessProbe,
      },
    ],
  }
  return overlaySpec(spec, trainer.podTemplate)
}

function trainerEnv(baseModel: BaseModel, settings: PodSettings): EnvVar[] {
  const { names, source, trainer = {} } = baseModel.spec
  return [
    ...statusServerEnv(baseModel, settings),
    homeEnv,
    hostEnv(settings),
    metricsEnv(isColocated(baseModel) ? colocatedTrainerMetricsPort : metricsPort),
    { name: 'TRAINYARD_READY_FILE', value: readyFile },
    { name: 'TRAINYARD_BASE_MODEL', value: names[0] ?? '' },
    ...sourceEnv(baseModel),
    ...artifactsEnv('trainer', settings.artifacts),
    loraEnv(baseModel),
    ...optionalEnv('TRAINYARD_GPUS', countGpus({ ...trainer.resources, ...requestGpus(trainer).resources })),
    ...limitsEnv(trainer),
    ...optionalEnv('TRAINYARD_TRUST_REMOTE_CODE', source.trustRemoteCode || undefined),
    ...findCache('trainer', baseModel, settings).env,
  ]
}

/** The adapters that trainers write. Engines check with one of this kind that they apply. */
function loraEnv({ spec }: BaseModel): EnvVar {
  const { rank, alpha, targetModules } = spec.lora ?? {}
  return { name: 'TRAINYARD_LORA', value: JSON.stringify({ rank, alpha, target_modules: targetModules }) }
}
