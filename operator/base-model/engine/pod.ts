import { colocatedTrainerMetricsPort, enginePort, metricsPort } from '../../../crds/engine-address.ts'
import type { BaseModel } from '../../../crds/generated.ts'
import { readMaxLoraRank } from '../../../crds/max-lora-rank.ts'
import { engineProgram, isColocated, mergeTrainerEnv } from '../colocation.ts'
import { artifactsEnv, type EnvVar } from '../pod/artifacts.ts'
import { commonContainer, commonPodSpec, findCache, type PodSettings } from '../pod/common.ts'
import { findSecrets, hostEnv, loraEnv, metricsEnv } from '../pod/common-env.ts'
import { mergeEnv, optionalEnv } from '../pod/env-vars.ts'
import { allocatorEnv, countGpus, parallelArgs } from '../pod/gpus.ts'
import { hashOf } from '../pod/hash.ts'
import { sourceEnv } from '../pod/model-source.ts'
import { statusServerEnv, statusToken, statusTokenMount } from '../pod/status-server.ts'
import { overlaySpec } from '../pod/template.ts'
import { homeEnv, readyFile } from '../pod/volumes.ts'
import { trainerEnv } from '../trainer/pod.ts'
import { trainerGraceSeconds } from '../trainer/process.ts'
import { engineProbes } from './probes.ts'

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
