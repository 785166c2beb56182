import { colocatedTrainerMetricsPort, metricsPort } from '../../../crds/engine-address.ts'
import type { BaseModel } from '../../../crds/generated.ts'
import { labels } from '../../../crds/names.ts'
import type { KubeObject } from '../../../lib/kube/apply.ts'
import { isColocated } from '../colocation.ts'
import { artifactsEnv, type EnvVar } from '../pod/artifacts.ts'
import { commonContainer, commonPodSpec, findCache, type PodSettings } from '../pod/common.ts'
import { findSecrets, hostEnv, loraEnv, metricsEnv } from '../pod/common-env.ts'
import { mergeEnv, optionalEnv } from '../pod/env-vars.ts'
import { allocatorEnv, countGpus, requestGpus } from '../pod/gpus.ts'
import { hashOf } from '../pod/hash.ts'
import { describePods, ownerOf } from '../pod/labels.ts'
import { sourceEnv } from '../pod/model-source.ts'
import { statusServerEnv, statusToken, statusTokenMount } from '../pod/status-server.ts'
import { overlayMetadata, overlaySpec } from '../pod/template.ts'
import { homeEnv, readyFile } from '../pod/volumes.ts'
import { describeFailures, type TrainerFailures } from './failed-trainers.ts'
import { limitsEnv, trainerCommand, trainerGraceSeconds, trainerReadinessProbe } from './process.ts'

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

/** What a trainer is told, in a pod of its own or in that of an engine. */
export function trainerEnv(baseModel: BaseModel, settings: PodSettings): EnvVar[] {
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
