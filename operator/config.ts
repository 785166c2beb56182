import { Type, type Static } from 'typebox'
import { ConfigError, readConfig } from '../lib/config.ts'
import { kubeSettings } from './kube/kube-config.ts'
import type { PodSettings } from './base-model/pods.ts'

const schema = Type.Object({
  TRAINYARD_HOST: Type.String({ minLength: 1 }),
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8081 }),
  DATABASE_URL: Type.String({ pattern: '^postgres(ql)?://' }),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  // Who holds the Lease.
  TRAINYARD_POD_NAME: Type.String({ minLength: 1 }),
  TRAINYARD_ENGINE_KEY: Type.String({ minLength: 1 }),
  // Of engine and trainer pods whose BaseModel names no other one.
  TRAINYARD_RUNTIME_IMAGE: Type.String({ minLength: 1 }),
  // The source of a pod volume as JSON, e.g. {"persistentVolumeClaim":{"claimName":"trainyard-artifacts"}}.
  TRAINYARD_ARTIFACTS_VOLUME: Type.String({ minLength: 2 }),
  TRAINYARD_LISTEN_ON_POD_IP: Type.Boolean({ default: false }),
  ...kubeSettings,
  LOG_LEVEL: Type.String({ default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** The operator's configuration. @throws {ConfigError} */
export function loadConfig(): Config {
  return readConfig(schema, process.env)
}

/** The part of it that pods are made from. @throws {ConfigError} */
export function readPodSettings(config: Config): PodSettings {
  return {
    runtimeImage: config.TRAINYARD_RUNTIME_IMAGE,
    artifactsVolume: parseVolume(config.TRAINYARD_ARTIFACTS_VOLUME),
    listenOnPodIp: config.TRAINYARD_LISTEN_ON_POD_IP,
  }
}

function parseVolume(text: string): Record<string, unknown> {
  try {
    const volume: unknown = JSON.parse(text)
    if (typeof volume === 'object' && volume !== null && !Array.isArray(volume)) return { ...volume }
  } catch {
    // said below, without the value
  }
  throw new ConfigError('bad configuration: TRAINYARD_ARTIFACTS_VOLUME must be a JSON object, a pod volume source')
}
