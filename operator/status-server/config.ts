import { Type, type Static } from 'typebox'
import { databaseSettings } from '../../db/address.ts'
import { connectionsSetting } from '../../db/connection-settings.ts'
import { gpuSecondsSetting } from '../../db/jobs/gpu-seconds-setting.ts'
import { readConfig } from '../../lib/config.ts'
import { kubeSettings } from '../../lib/kube/access.ts'
import { metricsSettings } from '../../lib/metrics/metrics-server.ts'

const schema = Type.Object({
  TRAINYARD_HOST: Type.String({ minLength: 1 }),
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8082 }),
  ...databaseSettings,
  TRAINYARD_DATABASE_CONNECTIONS: connectionsSetting(6),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  // Of entities without a weight or a limit of their own, as in the apiserver.
  ...gpuSecondsSetting,
  TRAINYARD_DEFAULT_WEIGHT: Type.Number({ minimum: 1, maximum: 100, default: 1 }),
  // Service accounts of BaseModels that name one, separated by commas.
  TRAINYARD_ENGINE_ACCOUNTS: Type.String({ default: '' }),
  TRAINYARD_TRAINER_ACCOUNTS: Type.String({ default: '' }),
  ...kubeSettings,
  ...metricsSettings,
  LOG_LEVEL: Type.String({ default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** The status server's configuration. @throws {ConfigError} */
export function loadConfig(): Config {
  return readConfig(schema, process.env)
}

type NamedAccounts = Pick<Config, 'TRAINYARD_ENGINE_ACCOUNTS' | 'TRAINYARD_TRAINER_ACCOUNTS'>

/** The service accounts of trainers and of engines. Colocated pods are both. */
export function readAccounts({
  TRAINYARD_ENGINE_ACCOUNTS: engines,
  TRAINYARD_TRAINER_ACCOUNTS: trainers,
}: NamedAccounts) {
  return { engines: addAccounts('trainyard-engine', engines), trainers: addAccounts('trainyard-trainer', trainers) }
}

function addAccounts(defaultAccount: string, more: string): readonly [string, ...string[]] {
  return [defaultAccount, 'trainyard-colocated', ...more.split(',').filter((name) => name !== '')]
}
