import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { storedBytesSetting } from '../artifacts/inputs/storage-quota.ts'
import { gpuSecondsSetting } from '../db/jobs/gpu-seconds-setting.ts'
import { artifactSettings } from '../artifacts/store/settings.ts'
import { databaseSettings, tracingDatabaseSettings } from '../db/address.ts'
import { tenantsSetting } from './tenants.ts'
import { connectionsSetting } from '../db/connection-settings.ts'
import { ConfigError, readConfig } from '../lib/config.ts'
import { keySettings, withKeyFiles } from '../lib/key-files.ts'
import { isObject } from '../lib/json/is-object.ts'
import { outboundSettings } from '../lib/outbound/settings.ts'
import { kubeSettings } from '../lib/kube/access.ts'
import { sealingKeySettings } from '../lib/sealing/settings.ts'
import { metricsSettings } from '../lib/metrics/metrics-server.ts'
import type { PodArtifacts } from './base-model/pod/artifacts.ts'
import type { PodImages, PodSettings } from './base-model/pod/common.ts'

const schema = Type.Object({
  TRAINYARD_HOST: Type.String({ minLength: 1 }),
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8081 }),
  ...databaseSettings,
  ...tracingDatabaseSettings,
  // Steps of maintenance hold one of them while they lock a key, and run queries on others.
  TRAINYARD_DATABASE_CONNECTIONS: connectionsSetting(8, 4),
  // Only for maintenance: erasures, and two steps that run a query while they lock a key.
  TRAINYARD_TRACING_CONNECTIONS: connectionsSetting(3, 3),
  // How many days calls are kept if their project sets nothing. Unset: forever.
  TRAINYARD_TRACE_RETENTION_DAYS: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  // Other namespaces with Models and TrainingJobs, and the entities that these may name, as JSON:
  // [{"namespace":"...","entities":["..."]}].
  ...tenantsSetting,
  // The identity of the lease's holder.
  TRAINYARD_POD_NAME: Type.String({ minLength: 1 }),
  TRAINYARD_ENGINE_KEY: Type.String({ minLength: 1 }),
  // Engines that were started before the key was changed take only this one.
  TRAINYARD_PREVIOUS_ENGINE_KEY: Type.Optional(Type.String({ minLength: 1 })),
  ...sealingKeySettings,
  ...keySettings,
  // The folder with the Secrets of others that pods read when they start: control/, engine/ and trainer/.
  TRAINYARD_OTHER_SECRETS: Type.Optional(Type.String({ pattern: '^/' })),
  // The images of engines and trainers as JSON, unless their BaseModel names one:
  // {"engine":{"cpu":"...","cuda":"..."},"trainer":{"cpu":"...","cuda":"..."}}.
  TRAINYARD_IMAGES: Type.String({ minLength: 1 }),
  TRAINYARD_PULL_POLICY: Type.Optional(Type.Enum(['Always', 'IfNotPresent', 'Never'])),
  ...artifactSettings,
  ...outboundSettings,
  // Fetched inputs count as stored bytes of their entity.
  ...storedBytesSetting,
  ...gpuSecondsSetting,
  // If the store is a folder: the source of the pods' volume as JSON, e.g.
  // {"persistentVolumeClaim":{"claimName":"trainyard-artifacts"}}.
  TRAINYARD_ARTIFACTS_VOLUME: Type.String({ default: '' }),
  // If the store is on S3: the Secrets of engines and of trainers with access-key-id and secret-access-key. Empty: none.
  TRAINYARD_S3_ENGINE_SECRET: Type.String({ default: '' }),
  TRAINYARD_S3_TRAINER_SECRET: Type.String({ default: '' }),
  // Names of Secrets for the registries of the images, separated by commas.
  TRAINYARD_PULL_SECRETS: Type.String({ default: '' }),
  // The security context of engines and trainers as JSON. Empty: the seccomp profile of the runtime.
  TRAINYARD_POD_SECURITY_CONTEXT: Type.String({ default: '' }),
  // The source of the volume that keeps weights and compiled code as JSON, for base models that name none. Empty: none.
  TRAINYARD_CACHE_VOLUME: Type.String({ default: '' }),
  TRAINYARD_LISTEN_ON_POD_IP: Type.Boolean({ default: false }),
  ...kubeSettings,
  ...metricsSettings,
  LOG_LEVEL: Type.String({ default: 'info' }),
})

const devices = Type.Object({ cpu: Type.String({ minLength: 1 }), cuda: Type.String({ minLength: 1 }) })
const imagesSchema = Type.Object({ engine: devices, trainer: devices })

export type Config = Readonly<Static<typeof schema>>

/** The operator's configuration. @throws {ConfigError} */
export function loadConfig(): Config {
  return readConfig(schema, withKeyFiles(process.env))
}

/** The settings of pods, which read Secrets with these digests. @throws {ConfigError} */
export function readPodSettings(config: Config, secretDigests?: PodSettings['secretDigests']): PodSettings {
  const { TRAINYARD_ENGINE_KEY: key, TRAINYARD_PREVIOUS_ENGINE_KEY: previous } = config
  const cache = parseObject('TRAINYARD_CACHE_VOLUME', config.TRAINYARD_CACHE_VOLUME)
  const securityContext = parseObject('TRAINYARD_POD_SECURITY_CONTEXT', config.TRAINYARD_POD_SECURITY_CONTEXT)
  return {
    engineKeys: previous === undefined ? [key] : [key, previous],
    images: readImages(config.TRAINYARD_IMAGES),
    pullPolicy: config.TRAINYARD_PULL_POLICY ?? 'IfNotPresent',
    artifacts: readPodArtifacts(config),
    listenOnPodIp: config.TRAINYARD_LISTEN_ON_POD_IP,
    pullSecrets: config.TRAINYARD_PULL_SECRETS.split(',').filter((name) => name !== ''),
    ...(securityContext && { podSecurityContext: securityContext }),
    ...(cache && { cache }),
    ...(secretDigests && { secretDigests }),
  }
}

function readImages(text: string): PodImages {
  const images = parseObject('TRAINYARD_IMAGES', text)
  if (Value.Check(imagesSchema, images)) return images
  throw new ConfigError('bad configuration: TRAINYARD_IMAGES must have engine and trainer, each with cpu and cuda')
}

function readPodArtifacts(config: Config): PodArtifacts {
  const address = config.TRAINYARD_ARTIFACTS
  if (address.startsWith('/')) return { volume: readStoreVolume(config) }
  const { TRAINYARD_S3_ENDPOINT: endpoint, TRAINYARD_S3_REGION: region } = config
  const secretNames = { engine: config.TRAINYARD_S3_ENGINE_SECRET, trainer: config.TRAINYARD_S3_TRAINER_SECRET }
  return { s3: { address, endpoint, region, secretNames } }
}

function readStoreVolume(config: Config): Record<string, unknown> {
  const volume = parseObject('TRAINYARD_ARTIFACTS_VOLUME', config.TRAINYARD_ARTIFACTS_VOLUME)
  if (volume) return volume
  throw new ConfigError('bad configuration: TRAINYARD_ARTIFACTS_VOLUME must be set if TRAINYARD_ARTIFACTS is a folder')
}

/** Undefined for an empty text. The error does not contain the value. */
function parseObject(name: string, text: string): Record<string, unknown> | undefined {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { ...value }
  } catch {
    // The error below is for this case too.
  }
  throw new ConfigError(`bad configuration: ${name} must be a JSON object`)
}
